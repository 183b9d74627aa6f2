/** Countries of Europe as letters write them, in English and German (in small letters). */
const EUROPE: readonly string[] = [
  'austria',
  'belgium',
  'bulgaria',
  'croatia',
  'cyprus',
  'czechia',
  'denmark',
  'dänemark',
  'deutschland',
  'estonia',
  'finland',
  'france',
  'frankreich',
  'germany',
  'greece',
  'hungary',
  'iceland',
  'ireland',
  'italy',
  'latvia',
  'lithuania',
  'luxembourg',
  'malta',
  'netherlands',
  'norway',
  'österreich',
  'poland',
  'portugal',
  'romania',
  'serbia',
  'slovakia',
  'slovenia',
  'spain',
  'sweden',
  'switzerland',
  'schweiz',
  'ukraine',
  'united kingdom',
];

/** Where a place lies, as far as its words tell: in a city of the other place, in Europe, elsewhere, or it is not said. */
export type Nearness = 'same_city' | 'europe' | 'elsewhere' | 'unknown';

export function nearness(place: string | null, jobPlace: string | null): Nearness {
  if (place === null) return 'unknown';
  const [city = '', ...rest] = place.toLowerCase().split(/\s*,\s*/);
  if (
    jobPlace !== null &&
    city !== '' &&
    jobPlace
      .toLowerCase()
      .split(/[,\s]+/)
      .includes(city)
  )
    return 'same_city';
  const country = rest.at(-1);
  if (country === undefined) return EUROPE.includes(city) ? 'europe' : 'unknown';
  return EUROPE.includes(country) ? 'europe' : 'elsewhere';
}
