import { type Finding, lintTemplate, parseTemplate, TemplateError } from '../../../tag/sandbox/index.ts'

export interface FixtureParts {
  terms?: string
  info?: string
  parameters?: unknown
  code?: string
  permissions?: unknown
  tests?: string
}

/** A small template that is sound but for the parts given. */
export function fixture(parts: FixtureParts = {}): string {
  const json = (value: unknown) => JSON.stringify(value, null, 2)
  return `___TERMS_OF_SERVICE___

${parts.terms ?? 'Some terms.'}


___INFO___

${parts.info ?? json(INFO)}


___TEMPLATE_PARAMETERS___

${json(parts.parameters ?? [])}


___SANDBOXED_JS_FOR_SERVER___

${parts.code ?? 'data.gtmOnSuccess();'}


___SERVER_PERMISSIONS___

${json(parts.permissions ?? [])}


___TESTS___

${parts.tests ?? 'scenarios: []'}


___NOTES___

Created for a test.
`
}

export const PICTURE = 'data:image/png;base64,iVBORw0KGgo='

export const INFO = {
  type: 'TAG',
  id: 'cvt_temp_public_id',
  version: 1,
  securityGroups: [],
  displayName: 'Fixture',
  categories: ['ANALYTICS'],
  brand: { id: 'brand_dummy', displayName: 'Fixture', thumbnail: PICTURE },
  description: 'A template for tests.',
  containerContexts: ['SERVER'],
}

/** The JSON of one permission; texts and lists of texts as parameters. */
export function permission(publicId: string, params: Record<string, string | string[]> = {}): unknown {
  const typed = (value: string | string[]) =>
    typeof value === 'string'
      ? { type: 1, string: value }
      : { type: 2, listItem: value.map((item) => ({ type: 1, string: item })) }
  const param = Object.entries(params).map(([key, value]) => ({ key, value: typed(value) }))
  return { instance: { key: { publicId, versionId: '1' }, param }, isRequired: true }
}

export const ANY_URL = permission('send_http', { allowedUrls: 'any' })
export const ANY_EVENT_DATA = permission('read_event_data', { eventDataAccess: 'any' })
export const DEBUG_LOG = permission('logging', { environments: 'debug' })

/** A fixture whose code is the body of an event callback that sends what it finds in `result`. */
export const reporting = (code: string, permissions: unknown[] = []): string =>
  fixture({
    code: `const addEventCallback = require('addEventCallback');
const sendHttpRequest = require('sendHttpRequest');
const JSON = require('JSON');
const send = (result) => sendHttpRequest('https://tagwarden.test/ingest', { method: 'POST', timeout: 3600000 }, JSON.stringify(result)).then(() => {}, () => {});
${code}
data.gtmOnSuccess();`,
    permissions: [permission('read_event_metadata'), ANY_URL, ...permissions],
  })

/** What is wrong with a template, whether it shows when it is read or in the lint. */
export function findingsOf(text: string): readonly Finding[] {
  try {
    return lintTemplate(parseTemplate(text))
  } catch (error) {
    if (error instanceof TemplateError) return error.findings
    throw error
  }
}

/** The line of the first occurrence of a text, from 1. */
export function lineWith(text: string, part: string): number {
  const at = text.indexOf(part)
  return at === -1 ? -1 : text.slice(0, at).split('\n').length
}

/** `scenarios:` with one scenario for each entry. */
export const scenarios = (codes: Readonly<Record<string, string>>): string =>
  `scenarios:\n${Object.entries(codes)
    .map(([name, code]) => `- name: ${name}\n  code: |-\n${indented(code)}`)
    .join('\n')}`

const indented = (code: string): string =>
  code
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n')
