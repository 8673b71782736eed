import type { CertificateFacts } from './certificate.ts'
import type { OutboundErrorKind, OutboundPhase } from './error.ts'
import type { OutboundAnswer, OutboundBytes, OutboundRequest } from './outbound.ts'
import type { NameFacts } from './resolve.ts'

/** What the thread is started with. */
export interface ThreadSettings {
  /** As `OUTBOUND_ALLOW` is written: addresses are objects that do not cross threads. */
  allow: string
  userAgent: string
}

/** A request without its signal, which does not cross threads: an `abort` with the same id takes its place. */
export type ThreadQuestion =
  | { kind: 'request' | 'fetchBytes'; url: string; request: Omit<OutboundRequest, 'signal'> }
  | { kind: 'resolve'; host: string; options: { wantsAliases?: boolean; totalMs?: number } }

export type ThreadOrder =
  /** `now` is the caller's clock, epoch ms: what certificates are judged by. */
  { id: number; now: number; question: ThreadQuestion } | { id: number; question: 'abort' }

export interface ThreadFailure {
  message: string
  /** What an OutboundError says; absent for any other error. */
  outbound?: { kind: OutboundErrorKind; phase: OutboundPhase | null; certificate: CertificateFacts | null }
}

export type ThreadAnswer = OutboundAnswer | OutboundBytes | NameFacts

export type ThreadReply =
  | { id: number; ok: true; answer: ThreadAnswer }
  | { id: number; ok: false; failure: ThreadFailure }
