package A
  package B
    model C
      record D
        Real x;
      protected
        Real y;
      end D;
      D d;
    end C;
  end B;
  B.C c;
end A;
