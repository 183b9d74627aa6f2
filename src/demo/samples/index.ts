/** A bundled file of the demo; `url` is where the page can fetch its bytes. */
export interface SampleFile {
  readonly name: string;
  readonly url: string;
}

/** The position that the sample applications are for. */
export const sampleJob: SampleFile = { name: 'job.md', url: new URL('./job.md', import.meta.url).href };

/** Twelve made-up applications. One PDF is cut in the middle, and some letters are odd: people's files are. */
export const sampleApplications: readonly SampleFile[] = [
  { name: '01-amara-okafor.pdf', url: new URL('./01-amara-okafor.pdf', import.meta.url).href },
  { name: '02-jonas-brandstaetter.pdf', url: new URL('./02-jonas-brandstaetter.pdf', import.meta.url).href },
  { name: '03-priya-raman.md', url: new URL('./03-priya-raman.md', import.meta.url).href },
  { name: '04-tomasz-zielinski.txt', url: new URL('./04-tomasz-zielinski.txt', import.meta.url).href },
  { name: '05-camille-laurent.md', url: new URL('./05-camille-laurent.md', import.meta.url).href },
  { name: '06-mateo-fuentes.pdf', url: new URL('./06-mateo-fuentes.pdf', import.meta.url).href },
  { name: '07-hana-sato.txt', url: new URL('./07-hana-sato.txt', import.meta.url).href },
  { name: '08-oskar-lindqvist.pdf', url: new URL('./08-oskar-lindqvist.pdf', import.meta.url).href },
  { name: '09-grace-whitfield.pdf', url: new URL('./09-grace-whitfield.pdf', import.meta.url).href },
  { name: '10-dmitri-volkov.txt', url: new URL('./10-dmitri-volkov.txt', import.meta.url).href },
  { name: '11-leila-haddad.md', url: new URL('./11-leila-haddad.md', import.meta.url).href },
  { name: '12-sam-oneill.txt', url: new URL('./12-sam-oneill.txt', import.meta.url).href },
];
