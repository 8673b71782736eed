/** What `require` knows. Evidence marks as in the README: D Google's documentation, T typings made from it, O seen. */
export interface ApiEntry {
  /** The permission that the editor derives from the `require` call; null if none is needed. */
  readonly permission: string | null
  readonly evidence: string
}

const free = (evidence: string): ApiEntry => ({ permission: null, evidence })
const guarded = (permission: string, evidence: string): ApiEntry => ({ permission, evidence })

/** The APIs that this runner plays. */
export const APIS: Readonly<Record<string, ApiEntry>> = {
  addMessageListener: guarded('use_message', 'D signature, O permission'),
  sendMessage: guarded('use_message', 'D signature, O permission'),
  addEventCallback: guarded('read_event_metadata', 'T signature, O permission'),
  sendHttpRequest: guarded('send_http', 'T signature, O permission'),
  sendHttpGet: guarded('send_http', 'T signature; permission by analogy with sendHttpRequest'),
  templateDataStorage: guarded('access_template_storage', 'T signature, O permission'),
  getEventData: guarded('read_event_data', 'T signature, O permission'),
  getAllEventData: guarded('read_event_data', 'T signature, O permission, with "any" in practice'),
  getContainerVersion: guarded('read_container_data', 'T signature, O permission'),
  getClientName: guarded('read_container_data', 'T signature, O permission'),
  logToConsole: guarded('logging', 'T signature, O permission'),
  getTimestampMillis: free('T'),
  getTimestamp: free('T, deprecated'),
  getType: free('T'),
  makeString: free('T'),
  makeNumber: free('T'),
  makeInteger: free('T'),
  makeTableMap: free('T'),
  callLater: free('T'),
  generateRandom: free('T'),
  sha256Sync: free('T'),
  queryPermission: free('D, listed on the server permissions page'),
  JSON: free('T'),
  Math: free('T'),
  Object: free('T'),
  Promise: free('T'),
}

/** Real APIs of a server container that a tag like ours has no use for, so this runner does not play them. */
export const NOT_PLAYED: readonly string[] = [
  'BigQuery',
  'claimRequest',
  'computeEffectiveTldPlusOne',
  'createRegex',
  'decodeUri',
  'decodeUriComponent',
  'encodeUri',
  'encodeUriComponent',
  'extractEventsFromMpv1',
  'extractEventsFromMpv2',
  'Firestore',
  'fromBase64',
  'getCookieValues',
  'getGoogleAuth',
  'getGoogleScript',
  'getRemoteAddress',
  'getRequestBody',
  'getRequestHeader',
  'getRequestMethod',
  'getRequestPath',
  'getRequestQueryParameter',
  'getRequestQueryParameters',
  'getRequestQueryString',
  'hasMessageListener',
  'hmacSha256',
  'isRequestMpv1',
  'isRequestMpv2',
  'parseUrl',
  'returnResponse',
  'runContainer',
  'sendEventToGoogleAnalytics',
  'sendPixelFromBrowser',
  'setCookie',
  'setPixelResponse',
  'setResponseBody',
  'setResponseHeader',
  'setResponseStatus',
  'sha256',
  'testRegex',
  'toBase64',
]

/** The table's entry, or undefined. A plain look-up would find `toString`. */
export const apiNamed = (name: string): ApiEntry | undefined => (Object.hasOwn(APIS, name) ? APIS[name] : undefined)

/** Why a template cannot have an API. */
export function unknownApi(name: string): string {
  return NOT_PLAYED.includes(name)
    ? `The API "${name}" exists in server containers, but this runner does not play it.`
    : `There is no API "${name}" in a server container.`
}
