package P
  expandable connector Bus
    extends Modelica.Icons.SignalBus;
    Real speed;
    SubBus sub[3];
  end Bus;
  connector Port
    Real p;
    flow Real m;
    stream Real h;
  end Port;
  model M
    Bus bus;
    inner outer Port port;
  equation
    connect(bus.sub[1].x, y);
    bus.speed = inStream(port.h) + actualStream(port.h);
  end M;
end P;
