model M "C:\dir \ü"
end M;
