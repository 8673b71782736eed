import { Ajv, type ErrorObject, type Options } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'
import { AppError, type ErrorDetail, isObject } from '../lib/index.ts'
import { FORMATS } from './formats.ts'

/** Schema keyword that says in words what a `pattern` allows; it ends the sentence "must be …". */
export const EXPECTS = 'x-expects'

export const NOT_BLANK = { pattern: '\\S', [EXPECTS]: 'text that is not blank' }

/**
 * Values in a request beyond which only the first fault is looked for. Finding all faults in a body of 80,000 unknown fields took
 * a second and made an answer of 10 MB; forms and programs that want every fault send far less.
 */
const THOROUGH_MAX = 1_000
/** Most texts that cannot be stored as they are that an answer names. */
const UNSTORABLE_MAX = 20
/** Longest path in an answer, characters: names in a body may be long, and nested 100,000 deep, and each fault repeats them. */
const PATH_MAX = 300

const common: Options = { verbose: true, removeAdditional: false, allowUnionTypes: true }

type Check = (data: unknown) => readonly ErrorObject[]

function ajvWith(options: Options): Ajv {
  const ajv = new Ajv(options)
  ajv.addKeyword(EXPECTS)
  for (const [name, format] of Object.entries(FORMATS)) ajv.addFormat(name, format.test)
  return ajv
}

/**
 * JSON has types, so bodies are validated as they are. Queries and paths are text, so numbers and flags are converted, and a
 * repeatable parameter becomes a list even if given once.
 */
const strict = { all: ajvWith({ ...common, allErrors: true }), first: ajvWith(common) }
const reading = {
  all: ajvWith({ ...common, allErrors: true, coerceTypes: 'array' }),
  first: ajvWith({ ...common, coerceTypes: 'array' }),
}

/** Compiled checks by schema text: many routes have the same parameters, and each would have its own copy. */
const checks = new Map<Ajv, Map<string, Check>>()

function compile(ajv: Ajv, schema: object): Check {
  const compiled = checks.get(ajv) ?? new Map<string, Check>()
  checks.set(ajv, compiled)
  return compileOnce(compiled, JSON.stringify(schema), () => {
    const validate = ajv.compile(schema)
    return (data) => (validate(data) ? [] : (validate.errors ?? []))
  })
}

/** Returns what was compiled for this text, compiling it the first time. */
export function compileOnce<T>(compiled: Map<string, T>, text: string, make: () => T): T {
  const known = compiled.get(text)
  if (known !== undefined) return known
  const made = make()
  compiled.set(text, made)
  return made
}

/** Returns a function that finds all faults in data, or only the first when there is a lot of data. */
function judge(
  { all, first }: typeof strict,
  schema: object,
): (data: unknown, part: 'body' | 'querystring') => ErrorDetail[] {
  // Compiled on first use: a start would compile a hundred routes' schemas, of which most processes need few.
  let checkAll: Check | undefined
  let checkFirst: Check | undefined
  return (data, part) => {
    const { values, unstorable } = lookThrough(data)
    if (values <= THOROUGH_MAX) {
      checkAll ??= compile(all, schema)
      return [...describeFaults(checkAll(data), part), ...unstorable]
    }
    checkFirst ??= compile(first, schema)
    return [...describeFaults(checkFirst(data), part), ...unstorable]
  }
}

/**
 * Compiles a route's schemas. Data that does not match fails with `invalid_request` and every fault at once; a path parameter
 * that does not match fails with `not_found`, as nothing can have that address.
 */
export const validatorCompiler: FastifySchemaCompiler<object> = ({ schema, httpPart }) => {
  const faultsOf = judge(httpPart === 'body' ? strict : reading, schema)
  const part = httpPart === 'body' ? 'body' : 'querystring'
  return (sent: unknown) => {
    const data = httpPart === 'body' && (sent ?? null) === null && needsNoBody(schema) ? {} : sent
    if (httpPart === 'body') settleIds(schema, data)
    else settleText(schema, data)
    const repeated = httpPart === 'querystring' ? repeatedOf(schema, data) : []
    // Before Ajv converts the texts.
    const others = httpPart === 'body' ? [] : otherNotations(schema, data)
    const faults = () => [...faultsOf(data, part), ...others, ...(httpPart === 'body' ? [] : endlessNumbers(data))]
    // Its values may each be right, so any other fault of such a parameter would mislead.
    const details = repeated.length > 0 ? repeated : faults()
    if (details.length === 0) return { value: data }
    if (httpPart === 'params') return { error: new AppError('not_found', 'Not found') }
    return { error: new AppError('invalid_request', summarise(details), details) }
  }
}

/** Checks values that no route's schema covers as a whole, such as settings whose schema depends on another field. */
export function checkerOf(schema: object): (data: unknown) => ErrorDetail[] {
  const faultsOf = judge(strict, schema)
  return (data) => faultsOf(data, 'body')
}

/** Parameters that are given several times and take one value. */
const repeatedOf = ({ properties = {} }: ObjectSchema, data: unknown): ErrorDetail[] =>
  Object.entries(data ?? {})
    .filter(
      ([name, value]) => Array.isArray(value) && properties[name] !== undefined && properties[name].type !== 'array',
    )
    .map(([name]) => ({ path: `/${name}`, message: 'takes one value, and is given more than once' }))

/** Ajv also reads `0x10`, `1e2` and a blank as whole numbers. @param data before Ajv has converted it */
const otherNotations = ({ properties = {} }: ObjectSchema, data: unknown): ErrorDetail[] =>
  Object.entries(data ?? {})
    .filter(([name, value]) => properties[name]?.type === 'integer' && typeof value === 'string' && value !== '')
    .filter(([, text]) => Number.isInteger(Number(text)) && !/^-?\d+$/.test(text))
    .map(([name]) => ({ path: `/${name}`, message: 'must be a whole number in digits' }))

/** Ajv reads `1e400` as Infinity, which passes when there is no maximum. */
function endlessNumbers(data: unknown): ErrorDetail[] {
  return Object.entries(data ?? {})
    .filter(([, value]) => typeof value === 'number' && !Number.isFinite(value))
    .map(([name]) => ({ path: `/${name}`, message: 'must be a finite number' }))
}

/**
 * Counts the values in `data` and finds texts that cannot be stored as they are, so that no text field accepts them on any engine:
 * PostgreSQL refuses NUL, and UTF-8 has no lone surrogates. Without recursion, because a body may be nested deeper than the stack allows.
 */
function lookThrough(data: unknown): { values: number; unstorable: ErrorDetail[] } {
  const unstorable: ErrorDetail[] = []
  const waiting = [{ value: data, path: '' }]
  let values = 0
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    values++
    const { value, path } = next
    if (typeof value === 'string') {
      if (unstorable.length >= UNSTORABLE_MAX) continue
      if (value.includes('\0')) unstorable.push({ path, message: 'must not contain NUL characters' })
      else if (!value.isWellFormed()) unstorable.push({ path, message: 'must not contain half a character' })
    } else if (typeof value === 'object' && value !== null) {
      // A stack is last in, first out: reversing keeps the order of the text.
      for (const [key, inner] of Object.entries(value).reverse()) waiting.push({ value: inner, path: below(path, key) })
    }
  }
  return { values, unstorable }
}

/** The path of what has this name in it, as far as an answer shows it. */
const below = (path: string, name: string): string => {
  if (path.length > PATH_MAX) return path
  const whole = `${path}/${name.slice(0, PATH_MAX)}`
  return whole.length > PATH_MAX ? `${whole.slice(0, PATH_MAX)}…` : whole
}

type Part = 'body' | 'querystring'

/** The faults of a request, one entry each, in sentences that name the field and the allowed values. */
function describeFaults(errors: readonly ErrorObject[], part: Part): ErrorDetail[] {
  return errors.map((error) => ({ path: pathOf(error), message: messageOf(error, part) }))
}

/** The faults as one line. */
const summarise = (details: readonly ErrorDetail[]): string =>
  details.map(({ path, message }) => (path === '' ? `The request ${message}` : `${path} ${message}`)).join('; ')

function pathOf({ instancePath, keyword, params }: ErrorObject): string {
  if (keyword === 'required') return below(instancePath, escapePointer(String(params.missingProperty)))
  if (keyword === 'additionalProperties') return below(instancePath, escapePointer(String(params.additionalProperty)))
  return instancePath
}

/** Escapes a name for a JSON pointer (RFC 6901). */
const escapePointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')

function messageOf(error: ErrorObject, part: Part): string {
  const { keyword, params } = error
  switch (keyword) {
    case 'required':
      return `is required${meaningOfNull(error)}`
    case 'additionalProperties':
      return part === 'body' ? 'is not a field that can be set here' : 'is not a parameter of this call'
    case 'type':
      return error.instancePath === '' && part === 'body' && params.type === 'object'
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

/** Explains null for a nullable but required field, as its meaning cannot be guessed. */
function meaningOfNull({ parentSchema, params }: ErrorObject): string {
  const { type, [EXPECTS]: words } = parentSchema?.properties?.[params.missingProperty] ?? {}
  return Array.isArray(type) && typeof words === 'string' ? `: ${words}` : ''
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

interface ObjectSchema {
  type?: unknown
  required?: readonly string[]
  minProperties?: number
  properties?: Readonly<Record<string, { type?: unknown; format?: unknown; items?: { format?: unknown } }>>
}

/** Normalises ids at the top level of a body, in place, to the spelling in which they are stored. */
function settleIds({ properties = {} }: ObjectSchema, data: unknown): void {
  if (!isObject(data)) return
  for (const [name, { format, items }] of Object.entries(properties)) {
    const value = data[name]
    if (format === 'uuid' && typeof value === 'string') data[name] = value.toLowerCase()
    if (items?.format === 'uuid' && Array.isArray(value)) data[name] = value.map(lowered)
  }
}

const lowered = (value: unknown): unknown => (typeof value === 'string' ? value.toLowerCase() : value)

const FLAGS: ReadonlyMap<string, string> = new Map([
  ['1', 'true'],
  ['0', 'false'],
  ['true', 'true'],
  ['false', 'false'],
])

/** The same for a query or a path, where flags have several spellings too. */
function settleText(schema: ObjectSchema, data: unknown): void {
  settleIds(schema, data)
  if (!isObject(data)) return
  for (const [name, { type }] of Object.entries(schema.properties ?? {})) {
    const value = data[name]
    if (type === 'boolean' && typeof value === 'string') data[name] = FLAGS.get(value.toLowerCase()) ?? value
  }
}

/** Whether a call may come without a body: none of its fields is required. */
export const needsNoBody = ({ type, required = [], minProperties = 0 }: ObjectSchema): boolean =>
  type === 'object' && required.length === 0 && minProperties === 0
