import { Negotiator } from '@fastify/accept-negotiator'

/** The encodings of content that we write, best first. */
export type Encoding = 'br' | 'gzip' | 'identity'

const negotiator = new Negotiator<Encoding>({ supportedValues: ['br', 'gzip', 'identity'] })
/** Without brotli: for what is compressed while a caller waits. */
const quick = new Negotiator<Encoding>({ supportedValues: ['gzip', 'identity'] })

/** Headers longer than this are a program's mischief, and not worth taking apart. */
const HEADER_MAX = 256

/** The best encoding of a file that a caller with this `Accept-Encoding` reads. */
export const encodingFor = (acceptEncoding: string | string[] | undefined): Encoding =>
  negotiated(negotiator, acceptEncoding)

export const quickEncodingFor = (acceptEncoding: string | string[] | undefined): Encoding =>
  negotiated(quick, acceptEncoding)

function negotiated(among: Negotiator<Encoding>, header: string | string[] | undefined): Encoding {
  if (typeof header !== 'string' || header.length > HEADER_MAX) return 'identity'
  return among.negotiate(header) ?? 'identity'
}
