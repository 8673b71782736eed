import { Ajv, type ErrorObject, type Options } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'
import { AppError, type ErrorDetail } from '../lib/index.ts'
import { FORMATS } from './formats.ts'
import { describeFaults, EXPECTS, summarise } from './messages.ts'
import { needsNoBody, settleIds, settleText } from './spelling.ts'

/**
 * Values in what is sent from which only its first fault is looked for. Looking for all of a body of 80,000 unknown fields took a
 * second and made an answer of 10 MB; forms and programs that care for every fault send far less.
 */
const THOROUGH_MAX = 1_000
/** NUL characters that an answer names at most. */
const NULS_MAX = 20

const common: Options = { verbose: true, removeAdditional: false, allowUnionTypes: true }

type Check = (data: unknown) => readonly ErrorObject[]

function ajvWith(options: Options): Ajv {
  const ajv = new Ajv(options)
  ajv.addKeyword(EXPECTS)
  for (const [name, format] of Object.entries(FORMATS)) ajv.addFormat(name, format.test)
  return ajv
}

/**
 * JSON has types, so a body is taken as it is; queries and paths are text, so numbers and flags are read from them, and what may stand
 * there several times is a list when it stands there once.
 */
const strict = { all: ajvWith({ ...common, allErrors: true }), first: ajvWith(common) }
const reading = {
  all: ajvWith({ ...common, allErrors: true, coerceTypes: 'array' }),
  first: ajvWith({ ...common, coerceTypes: 'array' }),
}

function compile(ajv: Ajv, schema: object): Check {
  const validate = ajv.compile(schema)
  return (data) => (validate(data) ? [] : (validate.errors ?? []))
}

/** What is wrong with data that a schema describes: everything, or for a mass of it the first fault. */
function judge(
  { all, first }: typeof strict,
  schema: object,
): (data: unknown, part: 'body' | 'querystring') => ErrorDetail[] {
  const checkAll = compile(all, schema)
  let checkFirst: Check | undefined
  return (data, part) => {
    const { values, nuls } = lookThrough(data)
    if (values <= THOROUGH_MAX) return [...describeFaults(checkAll(data), part), ...nuls]
    // Rarely needed, so compiled when it is.
    checkFirst ??= compile(first, schema)
    return [...describeFaults(checkFirst(data), part), ...nuls]
  }
}

/**
 * Compiles a route's schemas. What does not fit fails with `invalid_request` and every fault at once; a path parameter
 * that does not fit fails with `not_found`, as nothing can have that address.
 */
export const validatorCompiler: FastifySchemaCompiler<object> = ({ schema, httpPart }) => {
  const faultsOf = judge(httpPart === 'body' ? strict : reading, schema)
  const part = httpPart === 'body' ? 'body' : 'querystring'
  return (sent: unknown) => {
    const data = httpPart === 'body' && (sent ?? null) === null && needsNoBody(schema) ? {} : sent
    if (httpPart === 'body') settleIds(schema, data)
    else settleText(schema, data)
    const details = [...faultsOf(data, part), ...(httpPart === 'body' ? [] : endlessNumbers(data))]
    if (details.length === 0) return { value: data }
    if (httpPart === 'params') return { error: new AppError('not_found', 'Not found') }
    return { error: new AppError('invalid_request', summarise(details), details) }
  }
}

/** Checks values that no route's schema knows as a whole, such as settings whose schema depends on another field. */
export function checkerOf(schema: object): (data: unknown) => ErrorDetail[] {
  const faultsOf = judge(strict, schema)
  return (data) => faultsOf(data, 'body')
}

/** Ajv reads `1e400` as Infinity, and then holds it against no maximum. */
function endlessNumbers(data: unknown): ErrorDetail[] {
  return Object.entries(data ?? {})
    .filter(([, value]) => typeof value === 'number' && !Number.isFinite(value))
    .map(([name]) => ({ path: `/${name}`, message: 'must be a finite number' }))
}

/**
 * Counts the values in `data`, and says where it holds a NUL character: PostgreSQL's text cannot, so no text field takes one on
 * any engine. Not by recursion, because a body may be nested deeper than the stack is.
 */
function lookThrough(data: unknown): { values: number; nuls: ErrorDetail[] } {
  const nuls: ErrorDetail[] = []
  const waiting = [{ value: data, path: '' }]
  let values = 0
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    values++
    const { value, path } = next
    if (typeof value === 'string') {
      if (nuls.length < NULS_MAX && value.includes('\0'))
        nuls.push({ path, message: 'must not contain NUL characters' })
    } else if (typeof value === 'object' && value !== null) {
      // The last one in is the first one out: so the order stays that of the text.
      for (const [key, inner] of Object.entries(value).reverse()) waiting.push({ value: inner, path: `${path}/${key}` })
    }
  }
  return { values, nuls }
}
