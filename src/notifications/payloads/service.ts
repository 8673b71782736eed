/** Who takes a webhook; `generic` is everybody who is no chat service that is known here. */
export const SERVICES = ['slack', 'discord', 'teams', 'google_chat', 'generic'] as const
export type Service = (typeof SERVICES)[number]

export const SERVICE_TITLES: Readonly<Record<Service, string>> = {
  slack: 'Slack',
  discord: 'Discord',
  teams: 'Microsoft Teams',
  google_chat: 'Google Chat',
  generic: 'webhook',
}

const SLACK = ['hooks.slack.com', 'hooks.slack-gov.com']
const DISCORD = ['discord.com', 'discordapp.com'].flatMap((host) => [host, `ptb.${host}`, `canary.${host}`])
const DISCORD_PATH = /^\/api\/(v\d+\/)?webhooks\//
/** Connectors of Office, which are being retired, and the workflows that take their place. */
const TEAMS = ['.webhook.office.com', '.logic.azure.com', '.api.powerplatform.com']

/** Which service an address belongs to, by its host as it will be connected to; what is no address is generic too. */
export function serviceOf(address: string): Service {
  const url = URL.parse(address)
  if (url === null || !/^https?:$/.test(url.protocol)) return 'generic'
  const host = url.hostname.replace(/\.$/, '')
  if (SLACK.includes(host)) return 'slack'
  if (DISCORD.includes(host) && DISCORD_PATH.test(url.pathname)) return 'discord'
  if (TEAMS.some((suffix) => host.endsWith(suffix) && host.length > suffix.length)) return 'teams'
  return host === 'chat.googleapis.com' ? 'google_chat' : 'generic'
}
