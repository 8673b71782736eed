const HEADERS: readonly { name: string; header: string; value: RegExp }[] = [
  { name: 'Cloudflare', header: 'cf-mitigated', value: /challenge/ },
  { name: 'AWS WAF', header: 'x-amzn-waf-action', value: /challenge|captcha/ },
  { name: 'DataDome', header: 'x-datadome', value: /protected/ },
]

/** Returns the vendor whose bot protection answered instead of the target; null when the headers name none. */
export function challengeInHeaders(status: number, headers: Readonly<Record<string, string>>): string | null {
  const found = HEADERS.find(({ header, value }) => value.test(headers[header] ?? ''))
  // DataDome also sends its header with what it lets through.
  return found === undefined || (found.name === 'DataDome' && status !== 403) ? null : found.name
}

/** Says that a bot protection answered, which is about this check: visitors' browsers may come through. */
export const challengeMessage = (vendor: string, where: string, status: number): string =>
  `${vendor} blocks the check as a bot at ${where} (${status}): allow this address there for Tagwarden, or nothing is checked`
