import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { extname, join } from 'node:path'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { type PreparedFile, prepareFile, sendPrepared } from './compression.ts'
import { refuseUnknownPath } from './errors.ts'
import { completed } from './openapi-details.ts'
import type { HttpApp } from './schemas.ts'

const DESCRIPTION = `Manage what Tagwarden watches, and read what it found.

Times are ISO 8601 in UTC. A PATCH changes the fields that it has, and \`null\` clears an optional one. Unknown fields and parameters are
refused. Lists that take \`limit\` come in pages: follow the \`Link\` with \`rel="next"\`. Errors have one shape:
\`{ "error": code, "message": text, "details": [{ "path", "message" }] }\`.

A create that is sent again, after a timeout or a lost connection, creates once when it has an \`Idempotency-Key\`.`

/**
 * Describes every route added after this call, in `/api/openapi.json` and in `/api/docs`, where it can be tried. Both need no
 * key, as they contain no data.
 */
export async function describeApi(app: HttpApp, version: string, publicUrl: string | null): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Tagwarden', version, description: DESCRIPTION },
      ...(publicUrl === null ? {} : { servers: [{ url: publicUrl }] }),
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: 'An API token (`twk_…`), `ADMIN_TOKEN` or `VIEWER_TOKEN`',
          },
        },
      },
      security: [{ bearer: [] }],
    },
    stripBasePath: false,
    transformObject: (described) => {
      if (!('openapiObject' in described)) return described.swaggerObject
      // A copy: the document shares parts with the schemas that requests are validated by.
      return completed(structuredClone(described.openapiObject))
    },
    refResolver: { buildLocalReference: (json, _base, _fragment, index) => schemaName(json.$id) ?? `schema-${index}` },
  })

  await serveDocumentation(app)
  app.get(
    '/api/openapi.json',
    {
      config: { access: 'public' },
      schema: {
        tags: ['Service'],
        summary: 'This description',
        description: 'This API as an OpenAPI 3.1 document. Supports `If-None-Match`.',
        security: [],
        response: {
          200: Type.Object({}, { additionalProperties: true, description: 'OpenAPI 3.1' }),
          304: Type.Null({ description: 'Unchanged since the answer with this `ETag`' }),
        },
      },
    },
    documentHandler(app),
  )
}

const schemaName = (id: unknown): string | undefined => (typeof id === 'string' ? id : undefined)

/** Swagger UI uses inline styles; everything else it loads comes from here. */
const DOCS_CSP =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

const PREFIX = '/api/docs'
const FILES = join(createRequire(import.meta.url).resolve('@fastify/swagger-ui'), '../static')

/**
 * Serves `/api/docs`, where the API can be read and tried. It needs no key, as it contains no data. So everything is made once
 * and answered from memory, and a caller who requests it a thousand times causes next to no work.
 */
async function serveDocumentation(app: HttpApp): Promise<void> {
  const files = new Map<string, Promise<PreparedFile | null>>()
  const fromMemory: Handler = async (request, reply) => {
    const name = String(Reflect.get(Object(request.params), '*'))
    const known = /^[\w-]+(?:\.[\w-]+)+$/.test(name)
    if (known && !files.has(name)) files.set(name, readPrepared(name))
    const file = known ? await files.get(name) : null
    if (file === null || file === undefined) {
      files.delete(name)
      return refuseUnknownPath(request)
    }
    return sendPrepared(request, reply, file)
  }
  const document = documentHandler(app)
  await app.register((docs, _options, done) => {
    docs.addHook('onRoute', (route) => {
      route.config = { ...route.config, access: 'public' }
      // The plugin would read its files from the disk and serialize the document for every request.
      if (route.url === `${PREFIX}/static/*`) route.handler = fromMemory
      if (route.url === `${PREFIX}/json`) route.handler = document
    })
    docs.register(swaggerUi, { routePrefix: PREFIX, staticCSP: DOCS_CSP })
    done()
  })
}

/** Answers with the OpenAPI document, which is written on first request, when all routes are known. */
function documentHandler(app: HttpApp): Handler {
  let written: Promise<PreparedFile> | undefined
  return async (request, reply) => {
    written ??= prepareFile('application/json; charset=utf-8', Buffer.from(JSON.stringify(app.swagger())))
    return sendPrepared(request, reply, await written)
  }
}

async function readPrepared(name: string): Promise<PreparedFile | null> {
  const content = await readFile(join(FILES, name)).catch(() => null)
  return content && prepareFile(TYPES[extname(name)] ?? 'application/octet-stream', content)
}
