import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { extname, join } from 'node:path'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { refuseUnknownPath } from './errors.ts'
import { type PreparedFile, prepareFile, sendPrepared } from './prepared.ts'
import type { HttpApp } from './types.ts'

/** Swagger UI styles itself inline; everything else it loads comes from here. */
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
 * `/api/docs`, where the interface can be read and tried. Open without a key, as it holds no data: so everything is made once
 * and answered from memory, and a caller who asks for it a thousand times makes us do next to nothing.
 */
export async function serveDocumentation(app: HttpApp): Promise<void> {
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
      // The plugin would read its files from the disk and write the document again for every request.
      if (route.url === `${PREFIX}/static/*`) route.handler = fromMemory
      if (route.url === `${PREFIX}/json`) route.handler = document
    })
    docs.register(swaggerUi, { routePrefix: PREFIX, staticCSP: DOCS_CSP })
    done()
  })
}

/** Answers with the OpenAPI document, which is written when it is first asked for: by then all routes are known. */
export function documentHandler(app: HttpApp): Handler {
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
