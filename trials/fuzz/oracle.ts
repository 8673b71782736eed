import type { HttpAnswer } from './wire/answers.ts'

/** What an answer may not tell a caller: how the service is made inside. */
const INSIDES =
  /\n\s+at |node_modules|file:\/\/\/|\.[cm]?[jt]s:\d+|SQLITE_|StoreError|(?:Type|Syntax|Range|Reference)Error|ERR_[A-Z]|FST_ERR/

const CODE_OF_STATUS: Readonly<Record<number, readonly string[]>> = {
  400: ['invalid_request', 'invalid_payload'],
  401: ['unauthorized'],
  403: ['forbidden'],
  404: ['not_found'],
  405: ['method_not_allowed'],
  409: ['conflict'],
  413: ['payload_too_large'],
  429: ['rate_limited'],
  503: ['unavailable'],
}

/**
 * Says what is wrong with an answer, whatever was asked; null when nothing is.
 *
 * @param asked the bytes that it answers
 * @param isIngest true when ingest has to have answered, whose errors have one field; null when that is not known
 */
export function faultOf(answer: HttpAnswer, asked: Buffer, isHead: boolean, isIngest: boolean | null): string | null {
  const { status } = answer
  if (status >= 500 && !isDocumented503(answer, asked, isHead))
    return `answered ${status} ${answer.body.toString('utf8', 0, 100)}`
  if (status < 400 || isHead || isAsDocumentedWithoutBody(answer)) return null
  const text = answer.body.toString()
  if (isBadge(answer) || (status >= 500 && !text.startsWith('{"error"'))) return null
  if (INSIDES.test(text)) return `answered ${status} and shows its insides`
  if (asked.includes('/mcp') && isRpcError(text)) return null
  return shapeFault(status, text, isIngest)
}

/** Ingest may have no room, the event stream may be full, `/ready` may tell of a wait, and the dashboard may not be built. */
function isDocumented503({ status, body, head }: HttpAnswer, asked: Buffer, isHead: boolean): boolean {
  if (status !== 503) return false
  return isPage({ head })
    ? isHead || body.includes('The dashboard is not built')
    : asked.includes('/api/stream') || SAYS_WHY_NOT.some((text) => body.includes(text))
}

const SAYS_WHY_NOT = ['{"error":"unavailable"}', '{"status":"unavailable","reasons":[']

const isPage = ({ head }: { head: string }): boolean => /\r\ncontent-type: text\/html/i.test(head)

/** A badge is a picture, also one that says that there is no such site. */
const isBadge = ({ head }: HttpAnswer): boolean => /\r\ncontent-type: image\/svg\+xml/i.test(head)

/** 417 and 412 come from Node and from the server of files; a 416 says the size in its header. */
const isAsDocumentedWithoutBody = ({ status, body }: HttpAnswer): boolean =>
  (status === 412 || status === 416 || status === 417) && body.length === 0

/** What an assistant sends wrong is answered in the shape of its protocol, JSON-RPC 2.0. */
function isRpcError(text: string): boolean {
  try {
    const { jsonrpc, error } = JSON.parse(text) as { jsonrpc?: unknown; error?: { code?: unknown; message?: unknown } }
    return jsonrpc === '2.0' && Number.isInteger(error?.code) && typeof error?.message === 'string'
  } catch {
    return false
  }
}

function shapeFault(status: number, text: string, isIngest: boolean | null): string | null {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return `answered ${status} with a body that is not JSON`
  }
  if (typeof body !== 'object' || body === null || !('error' in body)) return `answered ${status} without an error code`
  const fields = Object.keys(body).sort().join()
  const isOneField = fields === 'error'
  if (!isOneField && fields !== 'details,error,message') return `answered ${status} with the fields ${fields}`
  if (isIngest !== null && isIngest !== isOneField) return `answered ${status} in the shape of another interface`
  const codes = CODE_OF_STATUS[status] ?? ['invalid_request']
  return codes.includes(String(body.error)) ? null : `answered ${status} with the code ${String(body.error)}`
}
