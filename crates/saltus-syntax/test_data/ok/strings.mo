model M "one " + "two" + " three"
  constant String s = "tab \t, quote \", backslash \\, question \?, bell \a" "value" + " of s";
  constant String lines = "first
second";
  constant String unicode = "größer — 漢字";
end M;
model 'a\"b\?\'c'
end 'a"b?\'c';
