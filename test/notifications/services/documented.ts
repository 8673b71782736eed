import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'

const PAGE = join(import.meta.dirname, '../../../docs/alerts.md')

/** The example of a language in docs/alerts.md. */
export function documentedExample(language: 'json' | 'js' | 'py'): string {
  const [, code] = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'm').exec(readFileSync(PAGE, 'utf8')) ?? []
  if (code === undefined) throw new Error(`docs/alerts.md has no example in ${language}`)
  return code
}

type Check = (secret: string, headers: IncomingHttpHeaders, body: string, now: number) => boolean

/** The check of a signature as docs/alerts.md describes it to receivers, run as it stands there. */
export async function documentedCheck(): Promise<Check> {
  const url = `data:text/javascript,${encodeURIComponent(documentedExample('js'))}`
  const { isFromTagwarden } = (await import(url)) as { isFromTagwarden: Check }
  return isFromTagwarden
}

/** The part of docs/alerts.md about the webhook, before its example. */
export function documentedFields(): string {
  const [, text] = /^### Webhook\n([\s\S]*?)^```json$/m.exec(readFileSync(PAGE, 'utf8')) ?? []
  if (text === undefined) throw new Error('docs/alerts.md says nothing about the webhook')
  return text
}
