interface Fact {
  name: string
  value: string
}

/** Already said by the title. */
const SAID: ReadonlySet<string> = new Set(['Tag', 'Event', 'Event and tag', 'Measured'])

/** What an alert measured against, without what its title says: "usually 0.4 %", "allowed up to 5 %". */
export const factsInWords = (facts: readonly Fact[]): string[] =>
  facts.filter(({ name }) => !SAID.has(name)).map(({ name, value }) => `${name.toLowerCase()} ${value}`)
