import { createTransport } from 'nodemailer'
import type { Config } from '../../config.ts'
import { SECOND } from '../../lib/index.ts'
import { outcomeOfFailure, smtpServer } from '../../notifications/index.ts'
import type { DoctorFinding } from './doctor-finding.ts'

const TIMEOUT_MS = 5 * SECOND

/** Whether the mail server takes our login; nothing is sent. Null without one. */
export async function smtpFinding({ smtpUrl, smtpFrom }: Config): Promise<DoctorFinding | null> {
  if (smtpUrl === null) return null
  const check = 'SMTP_URL'
  const server = smtpServer(smtpUrl)
  const mailer = createTransport({
    ...server,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    dnsTimeout: TIMEOUT_MS,
  })
  try {
    await mailer.verify()
    const login = server.auth === undefined ? '' : ' and takes the login'
    return { check, level: 'ok', text: `${server.host}:${server.port} answers${login}; e-mail comes from ${smtpFrom}` }
  } catch (thrown) {
    const outcome = outcomeOfFailure(thrown, `${server.host}:${server.port}`)
    const why = 'error' in outcome ? outcome.error : 'no answer'
    return {
      check,
      level: 'warning',
      text: `${why}; without it no e-mail is sent: see that SMTP_URL is right and reachable`,
    }
  } finally {
    mailer.close()
  }
}
