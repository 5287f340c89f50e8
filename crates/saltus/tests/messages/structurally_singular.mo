model StructurallySingular
  Real x;
  Real y;
  Real z;
equation
  x = time;
  x = 2*time;
  y + z = x;
end StructurallySingular;
