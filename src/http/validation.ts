import { Ajv, type Options } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'
import { AppError, type ErrorDetail } from '../lib/index.ts'
import { FORMATS } from './formats.ts'
import { describeFaults, EXPECTS, summarise } from './messages.ts'

const common: Options = { allErrors: true, verbose: true, removeAdditional: false, allowUnionTypes: true }

/** JSON has types, so a body is taken as it is; queries and paths are text, so numbers and flags are read from them. */
const strict = ajvWith({ ...common, coerceTypes: false })
const reading = ajvWith({ ...common, coerceTypes: true })

function ajvWith(options: Options): Ajv {
  const ajv = new Ajv(options)
  ajv.addKeyword(EXPECTS)
  for (const [name, format] of Object.entries(FORMATS)) ajv.addFormat(name, format.test)
  return ajv
}

/**
 * Compiles a route's schemas. What does not fit fails with `invalid_request` and every fault at once; a path parameter
 * that does not fit fails with `not_found`, as nothing can have that address.
 */
export const validatorCompiler: FastifySchemaCompiler<object> = ({ schema, httpPart }) => {
  const validate = (httpPart === 'body' ? strict : reading).compile(schema)
  const part = httpPart === 'body' ? 'body' : 'querystring'
  return (data: unknown) => {
    const faults = validate(data) ? [] : describeFaults(validate.errors ?? [], part)
    const details = [...faults, ...nulCharacters(data)]
    if (details.length === 0) return { value: data }
    if (httpPart === 'params') return { error: new AppError('not_found', 'Nothing has this address') }
    return { error: new AppError('invalid_request', summarise(details), details) }
  }
}

/** Checks values that no route's schema knows as a whole, such as settings whose schema depends on another field. */
export function checkerOf(schema: object): (data: unknown) => ErrorDetail[] {
  const validate = strict.compile(schema)
  return (data) => {
    const faults = validate(data) ? [] : describeFaults(validate.errors ?? [], 'body')
    return [...faults, ...nulCharacters(data)]
  }
}

/** Where `data` holds a NUL character: PostgreSQL's text cannot, so no text field takes one on any engine. */
function nulCharacters(data: unknown, path = ''): ErrorDetail[] {
  if (typeof data === 'string') return data.includes('\0') ? [{ path, message: 'must not contain NUL characters' }] : []
  if (typeof data !== 'object' || data === null) return []
  return Object.entries(data).flatMap(([key, value]) => nulCharacters(value, `${path}/${key}`))
}
