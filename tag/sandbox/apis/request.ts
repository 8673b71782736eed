import type { Inner } from '../realm/index.ts'
import type { Host } from './host.ts'

/**
 * The APIs on the HTTP request behind an event and on its response. Here it is a GET of / that says nothing: no header, no
 * cookie, no query, no body. What a template sets on the response goes nowhere.
 */
export const REQUEST: Readonly<Record<string, (host: Host, args: readonly Inner[]) => Inner>> = {
  getRequestMethod: () => 'GET',
  getRequestPath: () => '/',
  getRequestQueryString: () => '',
  getRequestQueryParameters: ({ realm }) => realm.inside.copy({}),
  getRequestQueryParameter: () => undefined,
  getRequestHeader: () => undefined,
  getRequestBody: () => undefined,
  getRemoteAddress: () => '',
  getCookieValues: ({ realm }) => realm.inside.copy([]),
  isRequestMpv1: () => false,
  isRequestMpv2: () => false,
  claimRequest: () => undefined,
  returnResponse: () => undefined,
  setCookie: () => undefined,
  setPixelResponse: () => undefined,
  setResponseBody: () => undefined,
  setResponseHeader: () => undefined,
  setResponseStatus: () => undefined,
}
