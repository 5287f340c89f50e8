within   Lib . Sub ;
partial model A"desc" extends B ; Real x( start =1, fixed= true )= 2 ;Real y[3,n+1]; // trailing
  /* own */ parameter Integer n=3
"number of things" annotation(Dialog(group="a", tab = "b"));
  import SI =Modelica.Units.SI;import A.B.*; import A.{C,D};
protected constant Real c[:]={1,2, 3*4} ;



  type E=enumeration(a"first",b) ;
  model Inner extends Base(redeclare package Medium=Water, p=- 1); end Inner;
  replaceable function f=g(k=2) constrainedby h;
  function   k input Real u; output Real y; protected Real z; algorithm
    if u>0 then y:=if u>1 then 1 else 2; elseif (u==- 1) then y:= -u; // odd
    else for i in 1:n+1 loop while y<i loop y:=y+x[i+1]^2*3/4; end while; break; end for; end if;
    return;
  annotation(Inline=true); end k;
  function ext "C" input Real u; output Real y; external"C" y=my(u) annotation(Include="#include <a.h>"); end ext;
initial equation x=0; equation
 der(x)=-x+
   y [1]*
   2; connect(a . p,b.p) annotation(Line(points={{-60, 0},{-50,  0}}, color={0,0,255}));
  // before when
  when{initial( ),sample(0,1)} then reinit(x,-pre(x));elsewhen x<0 then
    x = pre(x); // c


    // last
  end when;
  if not(a)and b or c<>d then
    a.x=[1,-2;3,4-5];
  else
  end if ;
  (a,,b)=f(x);
  assert(x .* y ./ 2 .+ .-z > 1 .* x, "a
   b"+
   "c");
  annotation (Icon(graphics={Rectangle(
          extent = {{-100,100},{ 100,-100}},
        lineColor={0,0,0}
        ), Text(textString="%name")}),
    Documentation(info="<html>
  <p>  kept </p>
</html>"),
Diagram(
  a=1,
  b=2));
end   A  ;
encapsulated operator record C operator 'constructor' function fromReal input Real r; output C c; algorithm c := C(r); end fromReal; end 'constructor';
  encapsulated operator function '*' input C a; end '*'; end C;
