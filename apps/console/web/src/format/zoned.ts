const DAY_MS = 86_400_000;

/** The instant at which the day ("2026-11-22") starts in the zone; with `next`, at which it ends. */
export function startOfDay(day: string, zone: string, next = false): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return firstAt(Date.UTC(year, month - 1, date + (next ? 1 : 0)), zone);
}

/** The instant of a time in the zone ("2026-11-22T16:00"), the first if clocks show it twice; null if it is none. */
export function instantOf(local: string, zone: string): string | null {
  const wall = Date.parse(`${local}Z`);
  return Number.isNaN(wall) ? null : firstAt(wall, zone);
}

/** The time in the zone, as {@link instantOf} reads it. */
export function localOf(instant: string, zone: string): string {
  const at = Date.parse(instant);
  return new Date(at + offsetMs(at, zone)).toISOString().slice(0, 16);
}

/** The first instant at which clocks in the zone show `wall` or later. */
function firstAt(wall: number, zone: string): string {
  // Uses the offsets of the days around it. If the clocks change then, one guess is still before.
  const guesses = [wall - DAY_MS, wall + DAY_MS].map((near) => wall - offsetMs(near, zone)).sort((a, b) => a - b);
  const instant = guesses.find((guess) => guess + offsetMs(guess, zone) >= wall) ?? guesses[1];
  return new Date(instant ?? wall).toISOString();
}

/** The day in the zone, such as "2026-11-22". */
export function dayOf(instant: number, zone: string): string {
  return new Date(instant + offsetMs(instant, zone)).toISOString().slice(0, 10);
}

/** By zone: making one takes far longer than using it. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  let found = formats.get(zone);
  if (found === undefined) {
    found = new Intl.DateTimeFormat('en', {
      ...{ timeZone: zone, hourCycle: 'h23' },
      ...{ year: 'numeric', month: 'numeric', day: 'numeric' },
      ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
    });
    formats.set(zone, found);
  }
  return found;
}

function offsetMs(instant: number, zone: string): number {
  const parts = formatOf(zone).formatToParts(instant);
  const of = (type: string) => Number(parts.find((part) => part.type === type)?.value);
  const wall = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'));
  return wall - Math.floor(instant / 1_000) * 1_000;
}
