const ID = 'time-zones';

/** The names of time zones, for an input with `list={Zones.id}`. */
export function Zones() {
  return (
    <datalist id={ID}>
      {Intl.supportedValuesOf('timeZone').map((name) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  );
}
Zones.id = ID;
