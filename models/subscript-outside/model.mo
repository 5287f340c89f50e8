model SubscriptOutside "An element that does not exist is assigned (specification 10.5)"
  discrete Real buffer[100](each start = 0, each fixed = true);
  Integer tick(start = 0, fixed = true);
algorithm
  when sample(0, 0.01) then
    tick := pre(tick) + 1;
    buffer[tick] := time;
    if tick == 200 then
      terminate("full");
    end if;
  end when;
end SubscriptOutside;
