model M
equation
  r = -a ^ 2;
  r = -a * b / c;
  r = -a + b;
  r = a - b - c + d;
  r = a / b * c;
  r = a .* b ./ c .^ d;
  r = a .+ b .- c;
  r = .-a .+ .5;
  r = +a;
  r = not a == b and c or d and not e;
  r = a + b < c * 1.0 + d or x <> y;
  r = a < -b;
  r = (a ^ b) ^ c;
  r = 2 ^ (-1);
  r = a + b : c * 2 : d;
  r = if a then b elseif c then d else if e then f else g;
  r = (((a)));
end M;
