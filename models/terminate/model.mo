model Terminate "The run ends when the tank is empty"
  Real level(start = 1, fixed = true);
equation
  der(level) = -0.4;
  when level < 0 then
    terminate("the tank is empty");
  end when;
end Terminate;
