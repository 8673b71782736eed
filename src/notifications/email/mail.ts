import type { SendOutcome } from '../transport.ts'

/** A composed e-mail. */
export interface Mail {
  to: readonly string[]
  subject: string
  text: string
  html: string
  /** Epoch ms. */
  at: number
  /** The same whenever it is sent again, so that mail programs show it once. */
  id: string
  /** The same for all e-mails about one thing. */
  thread: string | null
  /** Identifies the e-mails for rules in mail programs. */
  list: string
  /** Unsubscribes without a sign-in, also by a POST of mail programs, in one click (RFC 8058). */
  unsubscribeUrl?: string
}

export interface Mailer {
  /**
   * Makes one attempt. Failures are outcomes too.
   *
   * @param signal ends the attempt: a passing failure
   */
  send(mail: Mail, signal: AbortSignal): Promise<SendOutcome>
}

/** Returns `1 of 3 addresses was not reached`, and “yet” when all of these will be tried again. */
export const missedOf = (missed: number, all: number, putOff: number): string =>
  `${missed} of ${all} addresses ${missed === 1 ? 'was' : 'were'} not reached${putOff < missed ? '' : ' yet'}`
