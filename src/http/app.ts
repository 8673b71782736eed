import cookie from '@fastify/cookie'
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { type FastifyBaseLogger, type FastifyReply, type FastifyServerFactory, fastify, LogController } from 'fastify'
import { Type } from 'typebox'
import type { Clock } from '../lib/index.ts'
import type { AccessSettings, Credentials } from './access/access.ts'
import { ChangeLimit, limitChanges } from './access/change-limit.ts'
import { createGate, guardApi } from './access/gate.ts'
import { type OwnersOf, scopeApi } from './access/scope.ts'
import { sessionRoutes } from './access/session-routes.ts'
import { callerReader } from './access/throttle.ts'
import { compressAnswers } from './compression.ts'
import { serveDashboard } from './dashboard-files.ts'
import { answerClientError, errorHandler, type IsPassing, refuseUnknownPath } from './errors.ts'
import { describeApi } from './openapi.ts'
import { IDLE_SOCKET_TIMEOUT_MS, MAX_BODY_BYTES, SERVER_LIMITS } from './pacing.ts'
import { ErrorBody, errorResponses, type HttpApp } from './schemas.ts'
import { shareWork } from './sharing.ts'
import { compileOnce, validatorCompiler } from './validation.ts'

export interface HttpAppOptions {
  /** False for no log at all. */
  log: FastifyBaseLogger | false
  clock: Clock
  access: AccessSettings
  credentials: Credentials
  /** Finds the owners of the things that requests name. */
  ownersOf: OwnersOf
  /** Where people reach the service; null when unknown. */
  publicUrl: string | null
  /** Proxies whose `X-Forwarded-*` headers are believed. */
  trustProxy: readonly string[]
  /** Which failures are answered 503 `unavailable` instead of 500; this room does not know the store's errors. */
  isPassing: IsPassing
  /** The program's version, for the OpenAPI document. */
  version: string
  /** False where there is nothing to manage or read; then there is no sign-in and no API description. Default true. */
  isForPeople?: boolean
  /** Folder of the built dashboard, served where the node is for people; no dashboard when left out. */
  dashboardFolder?: string
  /** Given by tests, which use it up. */
  changeLimit?: ChangeLimit
  /** Makes the server around Fastify's handler; it has to apply `SERVER_LIMITS` itself. */
  serverFactory?: FastifyServerFactory
}

/** Longest path parameter, percent-encoded: a tag key of 256 characters, each up to 12. */
const MAX_PARAM_LENGTH = 3_072

/** The HTTP edge without any domain routes: validation, errors, access, sign-in, OpenAPI. Does not listen. */
export async function createHttpApp(options: HttpAppOptions): Promise<HttpApp> {
  const { publicUrl } = options
  const answerError = errorHandler(options.isPassing)
  const headers = securityHeaders(publicUrl)
  const app: HttpApp = fastify({
    ...(options.log === false ? { logger: false } : { loggerInstance: options.log }),
    ...(options.serverFactory === undefined ? {} : { serverFactory: options.serverFactory }),
    // A log line per request would cost more than the request on a busy service; failures are logged where they are answered.
    logController: new LogController({ disableRequestLogging: true }),
    http: SERVER_LIMITS,
    requestTimeout: SERVER_LIMITS.requestTimeout,
    keepAliveTimeout: SERVER_LIMITS.keepAliveTimeout,
    connectionTimeout: IDLE_SOCKET_TIMEOUT_MS,
    bodyLimit: MAX_BODY_BYTES,
    trustProxy: options.trustProxy.length === 0 ? false : [...options.trustProxy],
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    // While closing, requests on open connections are answered as usual, with `Connection: close`.
    return503OnClosing: false,
    schemaController: { compilersFactory: { buildSerializer: serializersWhenNeeded } },
    // An invalid URL is answered before any hook runs.
    frameworkErrors: (error, request, reply) => answerError(error, request, reply.headers(headers)),
    clientErrorHandler: answerClientError,
  }).withTypeProvider<TypeBoxTypeProvider>()

  app.setValidatorCompiler(validatorCompiler)
  app.setErrorHandler(answerError)
  acceptJsonOnly(app)
  app.addSchema(ErrorBody)
  addSecurityHeaders(app, headers)
  refuseUnknownParameters(app)
  readLittleWithoutKey(app)
  compressAnswers(app)
  shareWork(app, callerReader(options.trustProxy))

  // Order matters: cookies are parsed before the gate reads them, and only routes added later are described.
  await app.register(cookie)
  const gate = createGate({
    settings: options.access,
    credentials: options.credentials,
    publicUrl,
    clock: options.clock,
    warn: (facts, message) => app.log.warn(facts, message),
  })
  guardApi(app, gate)
  limitChanges(app, options.changeLimit ?? new ChangeLimit(options.clock))
  scopeApi(app, options.ownersOf)
  if (options.isForPeople === false) {
    app.setNotFoundHandler(refuseUnknownPath)
    return app
  }
  await describeApi(app, options.version, publicUrl)
  sessionRoutes(app, gate, publicUrl)
  const { dashboardFolder } = options
  app.setNotFoundHandler(dashboardFolder === undefined ? refuseUnknownPath : await serveDashboard(app, dashboardFolder))
  return app
}

const buildSerializers = SerializerSelector()
type Serialize = ReturnType<ReturnType<typeof buildSerializers>>

/** By schema text: an error is the same in all routes, and an answer in all services of a process. */
const serializers = new Map<string, Serialize>()

/**
 * Fastify's own serializers, each compiled with its first answer. Compiling several for each route at the start, most of which a
 * process never needs, took 0.3 s of processor time together with the validators.
 */
function serializersWhenNeeded(...args: Parameters<typeof buildSerializers>): ReturnType<typeof buildSerializers> {
  const compile = buildSerializers(...args)
  const shared = JSON.stringify(args)
  return (route) => {
    let serialize: Serialize | undefined
    return (data) => {
      serialize ??= compileOnce(serializers, `${shared}${JSON.stringify(route.schema)}`, () => compile(route))
      return serialize(data)
    }
  }
}

/**
 * Gives API routes that declare no query parameters an empty set, so that a misspelt one is reported there too. So any route can
 * answer 400, and all but reading ones 413: a body is read whether the route has one or not.
 */
function refuseUnknownParameters(app: HttpApp): void {
  app.addHook('onRoute', ({ url, method, schema }) => {
    if (!url.startsWith('/api/') || schema === undefined || schema.hide === true) return
    schema.querystring ??= Type.Object({}, { additionalProperties: false })
    const refusals = method === 'GET' ? errorResponses(400) : errorResponses(400, 413)
    schema.response = { ...refusals, ...Object(schema.response) }
  })
}

/** Longest body of a call that needs no key, bytes: anyone may send one, and none has more than an address and a password. */
const PUBLIC_BODY_BYTES = 4_096

/** Ingest under `/api` reads its bodies itself. */
function readLittleWithoutKey(app: HttpApp): void {
  app.addHook('onRoute', (route) => {
    if (route.url.startsWith('/api/') && route.config?.access === 'public') route.bodyLimit ??= PUBLIC_BODY_BYTES
  })
}

/**
 * Accepts only JSON bodies. Text is not accepted as JSON, because a form on a foreign web page can send text without the browser
 * asking us first. An empty body counts as none, even if labelled as JSON, as many clients do on DELETE.
 */
function acceptJsonOnly(app: HttpApp): void {
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined)
    else void parseJson(request, String(body), done)
  })
}

/** A year, and for this host only: its neighbours under the same domain may not have https. */
const HTTPS_ONLY = 'max-age=31536000'

/**
 * The default headers of every answer: data is never a page, belongs in no frame, cache or search engine, and sends no referrer. A
 * route that serves pages, or content that may be cached, overrides what does not fit.
 *
 * @param publicUrl where people reach the service; if it is https, browsers are to use https only
 */
const securityHeaders = (publicUrl: string | null): Readonly<Record<string, string>> => ({
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  // Search engines list neither what has a secret address nor where to sign in.
  'x-robots-tag': 'noindex, nofollow',
  'cross-origin-resource-policy': 'same-origin',
  // Answers contain keys and addresses; no cache on the way may keep them.
  'cache-control': 'no-store',
  ...(publicUrl?.startsWith('https://') === true ? { 'strict-transport-security': HTTPS_ONLY } : {}),
})

/** Sets the headers on every answer of the app. Must be added before all other hooks, as any of them may answer. */
function addSecurityHeaders(app: HttpApp, headers: Readonly<Record<string, string>>): void {
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(headers)
  })
}

/** Copies the headers set so far to a hijacked response, for which the framework no longer writes any. */
export function keepHeaders(reply: FastifyReply): void {
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value)
  }
}
