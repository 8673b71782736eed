import { type Config, hasRole } from '../config.ts'

/** What the person who starts the service wants to know next: where to look, and what is not set up. One line each. */
export function startNotes(config: Config, address: string): string[] {
  if (!hasRole(config, 'worker')) return []
  const url = config.publicUrl ?? address
  const notes = [`Dashboard: ${url}/`]
  if (config.smtpUrl === null) notes.push('E-mail is off: SMTP_URL is not set')
  if (config.chatWebhookUrl === null) {
    notes.push('No chat channel for all clients: CHAT_WEBHOOK_URL is not set (each client can have its own)')
  }
  if (config.adminToken === null) {
    notes.push(`Management is open: anyone who can reach ${url} can change everything, because ADMIN_TOKEN is not set`)
  }
  return notes
}
