import { ApiError } from '../api/client.ts'

/** What the service found wrong with a form. */
export interface Faults {
  /** By the form's field names, `config.slow_ms`. */
  fields: Record<string, string>
  /** What belongs to no field that is shown. */
  rest: string | null
}

/**
 * Sorts the service's faults to the fields of a form: `/config/hosts/0` belongs to the field `config.hosts`.
 *
 * @param names of the fields that are shown
 */
export function faultsOf(error: Error, names: readonly string[]): Faults {
  if (!(error instanceof ApiError) || error.details.length === 0) return { fields: {}, rest: error.message }
  const fields: Record<string, string> = {}
  const rest: string[] = []
  for (const { path, message } of error.details) {
    const place = path.slice(1).replaceAll('/', '.')
    const name = names.find((each) => place === each || place.startsWith(`${each}.`))
    if (name === undefined) rest.push(`${path} ${message}`)
    else fields[name] ??= message
  }
  return { fields, rest: rest.length === 0 ? null : rest.join('; ') }
}
