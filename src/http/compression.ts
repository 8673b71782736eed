import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { Negotiator } from '@fastify/accept-negotiator'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { HttpApp } from './schemas.ts'

/** What fits into one packet gains nothing, bytes. */
const WORTH_IT = 1_400
/** Reports shrink to a tenth at this level already, at a quarter of the time that the default takes. */
const LEVEL = 3
const COMPRESSIBLE = /^(?:application\/json|image\/svg\+xml|text\/(?!event-stream))/

const compress = promisify(gzip)

/**
 * Compresses answers that are made for each request, in zlib's threads. The whole of one at a time instead of a stream: it
 * is there as a whole, and so its length is known. What comes compressed, or as a stream, goes out as it is.
 *
 * Sizes of compressed answers reveal no secret (BREACH): no foreign page can make a browser ask with its cookie.
 */
export function compressAnswers(app: HttpApp): void {
  app.addHook('onSend', async (request, reply, payload) => {
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

/** A strong validator would promise the same bytes to those who read no gzip. */
function weakenEtag(reply: FastifyReply): void {
  const etag = reply.getHeader('etag')
  if (typeof etag === 'string' && etag.startsWith('"')) reply.header('etag', `W/${etag}`)
}

/** The encodings of content that we write, best first. */
type Encoding = 'br' | 'gzip' | 'identity'

const negotiator = new Negotiator<Encoding>({ supportedValues: ['br', 'gzip', 'identity'] })
/** Without brotli: for what is compressed while a caller waits. */
const quick = new Negotiator<Encoding>({ supportedValues: ['gzip', 'identity'] })

/** Headers longer than this are a program's mischief, and not worth taking apart. */
const HEADER_MAX = 256

/** The best encoding of a file that a caller with this `Accept-Encoding` reads. */
const encodingFor = (acceptEncoding: string | string[] | undefined): Encoding => negotiated(negotiator, acceptEncoding)

const quickEncodingFor = (acceptEncoding: string | string[] | undefined): Encoding => negotiated(quick, acceptEncoding)

function negotiated(among: Negotiator<Encoding>, header: string | string[] | undefined): Encoding {
  if (typeof header !== 'string' || header.length > HEADER_MAX) return 'identity'
  return among.negotiate(header) ?? 'identity'
}

/** A file that many ask for, kept in memory as it goes over the wire. */
export interface PreparedFile {
  /** Value of `Content-Type`. */
  type: string
  /** Without quotes. */
  hash: string
  forms: Readonly<Record<Encoding, Buffer>>
}

/** Well packed, within a tenth of a second for a megabyte. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }

/** Compresses once for all who will ask, in zlib's threads. */
export async function prepareFile(type: string, content: Buffer): Promise<PreparedFile> {
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(content, BROTLI),
    promisify(gzip)(content, { level: 9 }),
  ])
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 27)
  return { type, hash, forms: { br, gzip: gz, identity: content } }
}

/** Answers with the smallest form that the caller reads, or 304 if it has it already. */
export function sendPrepared(request: FastifyRequest, reply: FastifyReply, { type, hash, forms }: PreparedFile) {
  const encoding = encodingFor(request.headers['accept-encoding'])
  // Each form is another sequence of bytes, and a strong validator promises the same ones.
  const etag = `"${hash}-${encoding}"`
  reply.headers({ etag, 'cache-control': 'no-cache', vary: 'accept-encoding' })
  if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send()
  if (encoding !== 'identity') reply.header('content-encoding', encoding)
  return reply.type(type).send(forms[encoding])
}

/**
 * Answers with JSON that is written already: the framework would write it from an object, which of thousands of parts takes as long as
 * reading them. It goes through the same compression.
 */
export function sendJson<T, R>(reply: { type: (type: string) => { send: (payload: T) => R } }, json: string): R {
  // The framework sends bytes as they are, whatever the route's schema says of their content.
  return reply.type('application/json; charset=utf-8').send(Buffer.from(json) as unknown as T)
}

/** A strong validator of an answer's content. */
export const etagOf = (content: unknown): string =>
  `"${createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 27)}"`

/** Whether an `If-None-Match` header names the validator (RFC 9110, 13.1.2: the comparison is weak). */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  return ifNoneMatch.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag)
}
