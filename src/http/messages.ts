import type { ErrorObject } from 'ajv'
import type { ErrorDetail } from '../lib/index.ts'
import { FORMATS } from './formats.ts'

/** Schema keyword that says in words what a `pattern` allows; it ends the sentence "must be …". */
export const EXPECTS = 'x-expects'

type Part = 'body' | 'querystring'

/** What is wrong with a request, one entry a fault, in sentences that name the field and the allowed values. */
export function describeFaults(errors: readonly ErrorObject[], part: Part): ErrorDetail[] {
  return errors.map((error) => ({ path: pathOf(error), message: messageOf(error, part) }))
}

/** The faults as one line. */
export const summarise = (details: readonly ErrorDetail[]): string =>
  details.map(({ path, message }) => (path === '' ? `The request ${message}` : `${path} ${message}`)).join('; ')

function pathOf({ instancePath, keyword, params }: ErrorObject): string {
  if (keyword === 'required') return `${instancePath}/${escapePointer(String(params.missingProperty))}`
  if (keyword === 'additionalProperties') return `${instancePath}/${escapePointer(String(params.additionalProperty))}`
  return instancePath
}

/** RFC 6901. */
const escapePointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')

function messageOf(error: ErrorObject, part: Part): string {
  const { keyword, params } = error
  switch (keyword) {
    case 'required':
      return 'is required'
    case 'additionalProperties':
      return part === 'body' ? 'is not a field that can be set here' : 'is not a parameter of this call'
    case 'type':
      return error.instancePath === '' && part === 'body'
        ? 'must have a JSON object as its body'
        : `must be ${typeWords(params.type)}`
    case 'enum':
      return `must be ${listed(params.allowedValues)}`
    case 'const':
      return `must be ${JSON.stringify(params.allowedValue)}`
    case 'format':
      return `must be ${FORMATS[String(params.format)]?.expects ?? String(params.format)}`
    case 'pattern':
      return `must be ${expectationOf(error) ?? `text that matches ${params.pattern}`}`
    case 'minimum':
      return `must be at least ${params.limit}`
    case 'maximum':
      return `must be at most ${params.limit}`
    case 'minLength':
      return `must have at least ${counted(params.limit, 'character')}`
    case 'maxLength':
      return `must have at most ${counted(params.limit, 'character')}`
    case 'minItems':
      return `must have at least ${counted(params.limit, 'entry', 'entries')}`
    case 'maxItems':
      return `must have at most ${counted(params.limit, 'entry', 'entries')}`
    default:
      return error.message ?? 'is not valid'
  }
}

function expectationOf({ parentSchema }: ErrorObject): string | undefined {
  const words: unknown = parentSchema?.[EXPECTS]
  return typeof words === 'string' ? words : undefined
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
}

function typeWords(type: unknown): string {
  const names = (Array.isArray(type) ? type : String(type).split(',')).map(String)
  return names.map((name) => TYPE_WORDS[name] ?? name).join(' or ')
}

function listed(values: unknown): string {
  if (!Array.isArray(values)) return String(values)
  const words = values.map(String)
  return words.length === 1 ? words.join() : `one of ${words.join(', ')}`
}

const counted = (count: unknown, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`
