export {
  type Access,
  type AccessSettings,
  API_TOKEN_PREFIX,
  type Authenticated,
  accessOf,
  type Credentials,
  editsAll,
  isApiToken,
  type PasswordSignIn,
  type Person,
  type ProxyClaim,
  type ProxyHeaders,
  type ProxyOutcome,
  type Role,
  SESSION_MS,
  type SessionOwner,
  seesAll,
  seesSecrets,
  sessionCookie,
  visibleTo,
} from './access/access.ts'
export {
  CLIENT_ROLES,
  type ClientRole,
  type Grants,
  highestRole,
  joined,
  NO_GRANTS,
  roleFor,
  suffices,
  type Visible,
} from './access/grants.ts'
export type { OwnedKind, OwnersOf } from './access/scope.ts'
export type { Session } from './access/session-routes.ts'
export { callerReader, createThrottle, emailKey, Flooders, networkOf } from './access/throttle.ts'
export { Allowance } from './allowance.ts'
export { createHttpApp, type HttpAppOptions, keepHeaders } from './app.ts'
export { etagOf, matchesEtag, sendJson } from './compression.ts'
export { mustWait, OverloadedError, RateLimitedError, tooManyCodes } from './errors.ts'
export { areEmails, isHttpUrl, isIsoTime, pathOf } from './formats.ts'
export { addOneClick } from './forms.ts'
export { type FreshenCounts, freshenCounts } from './fresh-counts.ts'
export { ListPages, ListQuery, pageOfIds, sendRecords, unknownAfter } from './lists.ts'
export { boundPipeline, enduring, IDLE_SOCKET_TIMEOUT_MS, inTurn, MAX_BODY_BYTES, SERVER_LIMITS } from './pacing.ts'
export type { HttpApp } from './schemas.ts'
export {
  DEFAULT_PAGE,
  type ErrorBody,
  errorResponses,
  IsoTime,
  idBefore,
  Limit,
  linkedEntries,
  model,
  NoContent,
  nullable,
  type Page,
  pageOf,
  Uuid,
} from './schemas.ts'
export { checkerOf, EXPECTS, NOT_BLANK } from './validation.ts'
