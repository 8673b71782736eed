import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { Negotiator } from '@fastify/accept-negotiator'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { HttpApp } from './schemas.ts'

/** Bytes from which compression pays: smaller answers fit into one packet anyway. */
const WORTH_IT = 1_400
/** Reports shrink to a tenth at this level already, in a quarter of the default's time. */
const LEVEL = 3
const COMPRESSIBLE = /^(?:application\/json|image\/svg\+xml|text\/(?!event-stream))/

const compress = promisify(gzip)

/**
 * Compresses answers that are made for each request, in zlib's threads. Each is compressed as a whole instead of as a stream: it
 * is there as a whole, and so its length is known. Answers that are compressed already, or streamed, are sent as they are.
 *
 * Sizes of compressed answers reveal no secret (BREACH): no foreign page can make a browser send its cookie.
 */
export function compressAnswers(app: HttpApp): void {
  app.addHook('onSend', async (request, reply, payload) => {
    if (reply.statusCode === 304 && request.method !== 'HEAD') {
      // The `null` of a schema would be the length and type of a body, which caches take for those of the answer that they keep.
      // For HEAD, the framework needs it to measure.
      reply.removeHeader('content-type')
      return null
    }
    if (!(typeof payload === 'string' || Buffer.isBuffer(payload)) || payload.length < WORTH_IT) return payload
    if (!COMPRESSIBLE.test(String(reply.getHeader('content-type'))) || reply.hasHeader('content-encoding'))
      return payload
    reply.header('vary', 'accept-encoding')
    if (quickEncodingFor(request.headers['accept-encoding']) === 'identity') return payload
    const compressed = await compress(payload, { level: LEVEL })
    reply.header('content-encoding', 'gzip').removeHeader('content-length')
    weakenEtag(reply)
    return compressed
  })
}

/** A strong validator would promise the same bytes to clients without gzip. */
function weakenEtag(reply: FastifyReply): void {
  const etag = reply.getHeader('etag')
  if (typeof etag === 'string' && etag.startsWith('"')) reply.header('etag', `W/${etag}`)
}

/** The content encodings that we write, best first. */
type Encoding = 'br' | 'gzip' | 'identity'

const negotiator = new Negotiator<Encoding>({ supportedValues: ['br', 'gzip', 'identity'] })
/** Without brotli: for content that is compressed while a caller waits. */
const quick = new Negotiator<Encoding>({ supportedValues: ['gzip', 'identity'] })

/** Longer headers are abuse and not parsed. */
const HEADER_MAX = 256

/** The best encoding of a prepared file for this `Accept-Encoding`. */
const encodingFor = (acceptEncoding: string | string[] | undefined): Encoding => negotiated(negotiator, acceptEncoding)

const quickEncodingFor = (acceptEncoding: string | string[] | undefined): Encoding => negotiated(quick, acceptEncoding)

function negotiated(among: Negotiator<Encoding>, header: string | string[] | undefined): Encoding {
  if (typeof header !== 'string' || header.length > HEADER_MAX) return 'identity'
  return among.negotiate(header) ?? 'identity'
}

/** A file that many request, kept in memory as it is sent. */
export interface PreparedFile {
  /** Value of `Content-Type`. */
  type: string
  /** Without quotes. */
  hash: string
  forms: Readonly<Record<Encoding, Buffer>>
}

/** Compresses well within a tenth of a second per megabyte. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }

/** Compresses a file once for all requests, in zlib's threads. */
export async function prepareFile(type: string, content: Buffer): Promise<PreparedFile> {
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(content, BROTLI),
    promisify(gzip)(content, { level: 9 }),
  ])
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 27)
  return { type, hash, forms: { br, gzip: gz, identity: content } }
}

/** Answers with the smallest form that the caller accepts, or 304 if they have it already. */
export function sendPrepared(request: FastifyRequest, reply: FastifyReply, { type, hash, forms }: PreparedFile) {
  const encoding = encodingFor(request.headers['accept-encoding'])
  // Each form has its own validator, because a strong one promises the same bytes.
  const etag = `"${hash}-${encoding}"`
  reply.headers({ etag, 'cache-control': 'no-cache', vary: 'accept-encoding' })
  if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send()
  if (encoding !== 'identity') reply.header('content-encoding', encoding)
  return reply.type(type).send(forms[encoding])
}

/**
 * Answers with JSON text. The framework would serialize an object, which for thousands of parts takes as long as reading them.
 * Compression applies as usual.
 */
export function sendJson<T, R>(reply: { type: (type: string) => { send: (payload: T) => R } }, json: string): R {
  // The framework sends a Buffer as it is, whatever the route's schema says.
  return reply.type('application/json; charset=utf-8').send(Buffer.from(json) as unknown as T)
}

/** A strong validator of an answer's content. */
export const etagOf = (content: unknown): string =>
  `"${createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 27)}"`

/** Whether an `If-None-Match` header names the validator (RFC 9110, 13.1.2: a weak comparison). */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  return ifNoneMatch.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag)
}
