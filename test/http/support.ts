import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { InjectOptions } from 'fastify'
import { Type } from 'typebox'
import {
  createHttpApp,
  type ErrorBody,
  EXPECTS,
  errorResponses,
  type HttpApp,
  type HttpAppOptions,
  nullable,
  Uuid,
} from '../../src/http/index.ts'
import { TestClock } from '../../testkit/clock.ts'
import { memoryCredentials } from '../../testkit/credentials.ts'

export const ADMIN = 'admin-token-0123456789'
export const VIEWER = 'viewer-token-0123456789'
export const ID = '7d444840-9dc0-41d1-b245-5ffdce74fad2'

export const NO_KEYS = { adminToken: null, viewerToken: null, listensOnLoopback: true }
export const KEYS = { adminToken: ADMIN, viewerToken: VIEWER, listensOnLoopback: false }

/** An app with the routes of `addRoutes`; it closes with the test. */
export async function openApp(
  t: TestContext,
  addRoutes: (app: HttpApp) => void = thingRoutes,
  options: Partial<HttpAppOptions> = {},
): Promise<HttpApp> {
  const { clock = new TestClock('2026-11-20T10:00:00Z') } = options
  const app = await createHttpApp({
    log: false,
    clock,
    ownersOf: async () => new Map(),
    credentials: memoryCredentials(clock),
    access: NO_KEYS,
    publicUrl: 'http://tagwarden.example',
    trustProxy: [],
    isPassing: () => false,
    version: '1.2.3',
    ...options,
  })
  t.after(() => app.close())
  addRoutes(app)
  return app
}

/** One of each kind of route: read, write, and one that takes every kind of input. */
export function thingRoutes(app: HttpApp): void {
  const response = { 200: Type.Object({ actor: Type.String(), role: Type.String() }), ...errorResponses(400, 404) }
  const config = { scope: 'anyone' } as const
  const schema = { tags: ['Things'], summary: 'A thing', description: 'For tests.', response }
  app.get('/api/things', { config, schema }, async ({ access }) => access)
  app.post('/api/things', { config, schema }, async ({ access }) => access)
  app.delete('/api/things', { config, schema }, async ({ access }) => access)
  app.get('/outside', { schema }, async ({ access }) => access)
  app.put(
    '/api/things/:thing_id',
    {
      config,
      schema: {
        ...schema,
        params: Type.Object({ thing_id: Uuid }),
        querystring: Type.Object(
          { count: Type.Optional(Type.Integer({ minimum: 1, maximum: 9 })), flag: Type.Optional(Type.Boolean()) },
          { additionalProperties: false },
        ),
        body: Type.Object(
          {
            name: Type.String({ pattern: '\\S', [EXPECTS]: 'text that is not blank', maxLength: 5 }),
            kind: Type.Optional(Type.Enum(['a', 'b'])),
            size: Type.Optional(nullable(Type.Integer({ minimum: 2 }))),
            email: Type.Optional(nullable(Type.String({ format: 'email' }))),
            tags: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { maxItems: 1 })),
          },
          { additionalProperties: false },
        ),
        response: { 200: Type.Object({ body: Type.Unknown(), query: Type.Unknown() }), ...errorResponses(400, 404) },
      },
    },
    async ({ body, query }) => ({ body, query }),
  )
}

/** Asserts status and code of an error answer, and returns its body. */
export async function refused(app: HttpApp, request: InjectOptions, status: number, error: ErrorBody['error']) {
  const response = await app.inject(request)
  assert.equal(response.statusCode, status, response.body)
  const body = response.json<ErrorBody>()
  assert.deepEqual(Object.keys(body), ['error', 'message', 'details'])
  assert.equal(body.error, error)
  assert.match(body.message, /\w{3}/)
  return { body, headers: response.headers }
}
