/** What a service answered a message with. Header names in lower case; the body may be cut. */
export interface Answer {
  status: number
  headers: Readonly<Record<string, string>>
  body: string
}

/** The word or number by which the answer says what is wrong: `no_service`, `10015`, `WorkflowTriggerIsNotEnabled`. */
export function reasonIn(body: string): string | null {
  const text = body.trim()
  const json = objectIn(text)
  if (json === null) return /^[a-z][a-z_]{2,60}$/.test(text) ? text : null
  const error = isObject(json.error) ? json.error : json
  // Google has the number of the status as `code`, and a word beside it.
  for (const value of [error.status, error.code]) {
    if (typeof value === 'number' && value > 0) return String(value)
    if (typeof value === 'string' && /^\w{3,60}$/.test(value)) return value
  }
  return null
}

/** Discord's `retry_after`, in ms. */
export function retryAfterIn(body: string): number | null {
  const value = objectIn(body)?.retry_after
  if (typeof value !== 'number' || !(value >= 0)) return null
  // Seconds with a fraction; versions before 8 of its interface count in whole milliseconds.
  return Number.isInteger(value) && value >= 1_000 ? value : Math.ceil(value * 1_000)
}

function objectIn(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
