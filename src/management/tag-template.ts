import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileNamePart } from '../lib/index.ts'

const TEMPLATE = join(import.meta.dirname, '../../tag/template.tpl')
const PARAMETERS = '\n___TEMPLATE_PARAMETERS___\n'
const CODE = '\n___SANDBOXED_JS_FOR_SERVER___\n'

/** What a site's copy of the tag template has filled in; null is left for the user to fill in. */
export interface TagSettings {
  endpoint: string | null
  ingestKey: string | null
}

/** The server-container template as Tag Manager imports it, with a site's settings as the defaults of its form. */
export async function tagTemplate(settings: TagSettings): Promise<string> {
  return withDefaults(await readFile(TEMPLATE, 'utf8'), { ...settings })
}

/**
 * Where the tag sends to. Null when the service has no public https address, as the tag takes no other.
 *
 * @param publicUrl without a slash at its end
 */
export const ingestEndpoint = (publicUrl: string | null): string | null =>
  publicUrl?.startsWith('https://') ? `${publicUrl}/ingest` : null

export const templateFileName = (siteName: string): string => `tagwarden-${fileNamePart(siteName, 'site')}.tpl`

/** Edits the form as the JSON it is: no value can end it and reach the code behind. */
export function withDefaults(template: string, defaults: Readonly<Record<string, string | null>>): string {
  const from = template.indexOf(PARAMETERS) + PARAMETERS.length
  const to = template.indexOf(CODE)
  const parameters = JSON.parse(template.slice(from, to)) as { name: string }[]
  for (const [name, defaultValue] of Object.entries(defaults)) {
    const parameter = parameters.find((candidate) => candidate.name === name)
    if (parameter === undefined) throw new Error(`the tag template has no setting ${name}`)
    if (defaultValue !== null) Object.assign(parameter, { defaultValue })
  }
  return `${template.slice(0, from)}\n${JSON.stringify(parameters, null, 2)}\n\n${template.slice(to)}`
}
