import { readFileSync } from 'node:fs'

/** Vite's entry for a package whose code is in the build. */
interface Licence {
  name: string
  version: string
  identifier?: string
  text?: string
}

const LINE = '-'.repeat(80)

/**
 * The licences of all packages whose code is in our builds, because most require their text to be included.
 *
 * @param files Vite's licence file of each build
 */
export function licenceTexts(files: readonly string[]): string {
  const all = files.flatMap((file) => JSON.parse(readFileSync(file, 'utf8')) as Licence[])
  const byName = new Map(all.map((licence) => [`${licence.name} ${licence.version}`, licence]))
  const texts = [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([title, licence]) => textOf(title, licence))
  return `Tagwarden holds code of others, under their licences. Sources are listed in THIRD-PARTY.md.\n\n${texts.join('\n')}`
}

const textOf = (title: string, { identifier, text }: Licence): string =>
  `${LINE}\n${title} (${identifier ?? 'see below'})\n\n${text ?? 'The package brings no text of its licence.'}\n`
