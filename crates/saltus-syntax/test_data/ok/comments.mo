// a line comment
/* a block
   comment ** / */ model /**/ M // end
  Real x /* inside */ ; // "not a string
  // * /* not nested
equation
  x = 1 // last
  ;
end M;
// no line feed at the end: 
// end