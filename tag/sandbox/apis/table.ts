/** What `require` knows. Evidence marks as in the README: D Google's documentation, T typings made from it, O seen. */
export interface ApiEntry {
  /** The permission that the editor derives from the `require` call; null if none is needed. */
  readonly permission: string | null
  readonly evidence: string
  /** `require` gives an object with functions instead of a function. */
  readonly isObject?: true
  /** It exists in server containers, and this runner does not play it: scenarios have to mock it. */
  readonly isMockedOnly?: true
}

const free = (evidence: string): ApiEntry => ({ permission: null, evidence })
const guarded = (permission: string, evidence: string): ApiEntry => ({ permission, evidence })
const object = (entry: ApiEntry): ApiEntry => ({ ...entry, isObject: true })
const mockedOnly = (entry: ApiEntry): ApiEntry => ({ ...entry, isMockedOnly: true })

/** Those that read the HTTP request, and those that answer it. */
const REQUEST_APIS = Object.fromEntries(
  [
    'getRemoteAddress',
    'getRequestBody',
    'getRequestHeader',
    'getRequestMethod',
    'getRequestPath',
    'getRequestQueryParameter',
    'getRequestQueryParameters',
    'getRequestQueryString',
    'isRequestMpv1',
    'isRequestMpv2',
  ].map((name) => [name, guarded('read_request', 'D, O permission')]),
)

const RESPONSE_APIS = Object.fromEntries(
  ['setPixelResponse', 'setResponseBody', 'setResponseHeader', 'setResponseStatus'].map((name) => [
    name,
    guarded('access_response', 'D, O permission'),
  ]),
)

/** Every API of Google's reference of server containers (D, T). */
export const APIS: Readonly<Record<string, ApiEntry>> = {
  addMessageListener: guarded('use_message', 'D signature, O permission'),
  sendMessage: guarded('use_message', 'D signature, O permission'),
  hasMessageListener: mockedOnly(guarded('use_message', 'D signature; permission by analogy with sendMessage')),
  addEventCallback: guarded('read_event_metadata', 'T signature, O permission'),
  sendHttpRequest: guarded('send_http', 'T signature, O permission'),
  sendHttpGet: guarded('send_http', 'T signature, O permission'),
  getGoogleScript: mockedOnly(guarded('send_http', 'T signature; permission by analogy with sendHttpGet')),
  sendEventToGoogleAnalytics: mockedOnly(guarded('send_http', 'T signature, O permission')),
  sendPixelFromBrowser: mockedOnly(guarded('send_pixel_from_browser', 'T signature, O permission')),
  templateDataStorage: object(guarded('access_template_storage', 'T signature, O permission')),
  getEventData: guarded('read_event_data', 'T signature, O permission'),
  getAllEventData: guarded('read_event_data', 'T signature, O permission, with "any" in practice'),
  getContainerVersion: guarded('read_container_data', 'T signature, O permission'),
  getClientName: guarded('read_container_data', 'T signature, O permission'),
  getCookieValues: guarded('get_cookies', 'T signature, O permission'),
  setCookie: guarded('set_cookies', 'T signature, O permission'),
  runContainer: mockedOnly(guarded('run_container', 'T signature, O permission')),
  returnResponse: guarded('return_response', 'T signature, O permission'),
  claimRequest: free('T signature; O: no permission in clients that have no other use for one'),
  ...REQUEST_APIS,
  extractEventsFromMpv1: mockedOnly(guarded('read_request', 'D, O permission')),
  extractEventsFromMpv2: mockedOnly(guarded('read_request', 'D, O permission')),
  ...RESPONSE_APIS,
  BigQuery: object(mockedOnly(guarded('access_bigquery', 'D, O permission'))),
  Firestore: object(mockedOnly(guarded('access_firestore', 'D, O permission'))),
  getGoogleAuth: mockedOnly(guarded('use_google_credentials', 'T signature, O permission')),
  hmacSha256: mockedOnly(guarded('use_custom_private_keys', 'T signature, O permission')),
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
  sha256: free('T'),
  decodeUri: free('T'),
  decodeUriComponent: free('T'),
  encodeUri: free('T'),
  encodeUriComponent: free('T'),
  fromBase64: free('T'),
  toBase64: free('T'),
  parseUrl: free('T'),
  computeEffectiveTldPlusOne: mockedOnly(free('T')),
  createRegex: free('T'),
  testRegex: free('T'),
  queryPermission: free('D, listed on the server permissions page'),
  JSON: object(free('T')),
  Math: object(free('T')),
  Object: object(free('T')),
  Promise: object(free('T')),
}

/** The table's entry, or undefined. A plain look-up would find `toString`. */
export const apiNamed = (name: string): ApiEntry | undefined => (Object.hasOwn(APIS, name) ? APIS[name] : undefined)

/** Why a template cannot have an API. */
export const unknownApi = (name: string): string => `There is no API "${name}" in a server container.`

/** Whether `require` gives an object with functions instead of a function. */
export const isObjectApi = (name: string): boolean => apiNamed(name)?.isObject === true
