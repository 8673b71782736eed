import swagger from '@fastify/swagger'
import { Type } from 'typebox'
import { documentHandler, serveDocumentation } from './documentation.ts'
import { needsNoBody } from './spelling.ts'
import type { HttpApp } from './types.ts'

const DESCRIPTION = `Manages what Tagwarden watches and reports what it saw.

Times are ISO 8601 in UTC. In a PATCH, \`null\` clears an optional field. Errors have one shape:
\`{ "error": code, "message": text, "details": [{ "path", "message" }] }\`.`

/**
 * Describes every route added after this call: `/api/openapi.json`, and `/api/docs` to read and try it. Both are open
 * without a key, as they hold no data.
 */
export async function describeApi(app: HttpApp, version: string, publicUrl: string | null): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Tagwarden', version, description: DESCRIPTION },
      ...(publicUrl === null ? {} : { servers: [{ url: publicUrl }] }),
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'ADMIN_TOKEN or VIEWER_TOKEN, when they are set' },
        },
      },
      security: [{ bearer: [] }],
    },
    stripBasePath: false,
    transformObject: (described) => {
      if (!('openapiObject' in described)) return described.swaggerObject
      settleBodies(described.openapiObject.paths as Paths)
      return described.openapiObject
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
        description: 'The interface as an OpenAPI 3.1 document. Supports `If-None-Match`.',
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

type Paths = Record<string, Record<string, { requestBody?: { required?: boolean; content: Content } }>>
type Content = Record<string, { schema?: object }>

/** The plugin says of every body that it is required; one of which no field is needed may be left out. */
function settleBodies(paths: Paths): void {
  for (const { requestBody } of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    if (requestBody === undefined) continue
    requestBody.required = !Object.values(requestBody.content).every(({ schema = {} }) => needsNoBody(schema))
  }
}

const schemaName = (id: unknown): string | undefined => (typeof id === 'string' ? id : undefined)
