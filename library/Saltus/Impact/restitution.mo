within Saltus.Impact;
function restitution "Newton's law of restitution, for the instant at which a when-clause becomes active"
  input Real approach "Velocity at which two bodies approach each other";
  input Real coefficient "Of restitution: 0 plastic, 1 elastic";
  input Real force "Of the contact: an unknown that is an impulse at this instant";

  external "builtin" saltus_restitution(approach, coefficient, force);
  annotation(Documentation(info = "<html>
<p>Written as an equation inside <code>when</code>. It states that the velocity of approach just after the instant is
<code>-coefficient</code> times that just before, and that <code>force</code> has an impulse. The impulse equations of all bodies
that take part, and what else jumps with them, follow from the equations of the model. Laws that become active at the same instant
hold together; the event goes on until no when-clause becomes active.</p>
<pre>
when x1 &gt;= x2 and v1 &gt; v2 then
  Saltus.Impact.restitution(v1 - v2, 0.6, F);
end when;
F = 0;
</pre>
</html>"));
end restitution;
