package P
  function a external; end a;
  function b external "C" annotation(Library = "m"); annotation(Inline = false); end b;
  function c external "FORTRAN 77" r.x[1] = name(a, b + 1, size(c, 1)) annotation(Include = "x"); end c;
  function d external "C" name(); end d;
  class O extends ExternalObject; function constructor end constructor; end O;
end P;
