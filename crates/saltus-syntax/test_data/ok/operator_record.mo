operator record Complex "complex numbers"
  Real re, im;
  encapsulated operator 'constructor'
    function fromReal
      input Real re;
      input Real im = 0;
      output Complex result(re = re, im = im);
    algorithm
      annotation(Inline = true);
    end fromReal;
  end 'constructor';
  encapsulated operator function '*'
    input Complex a;
    output Complex c;
  algorithm
    c := Complex(a.re * a.re, 0);
  end '*';
end Complex;
