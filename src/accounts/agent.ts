/** In the order in which they are looked for: later browsers claim to be earlier ones as well. */
const BROWSERS: readonly [sign: RegExp, name: string][] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:HeadlessChrome|Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]
const SYSTEMS: readonly [sign: RegExp, name: string][] = [
  [/\b(?:iPhone|iPad|iPod)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]

const named = (signs: typeof BROWSERS, agent: string): string | undefined =>
  signs.find(([sign]) => sign.test(agent))?.[1]

/** Browser and system of a `User-Agent`, `Firefox on Linux`, to recognise one's own by; null where it says neither. */
export function agentClass(agent: string | undefined): string | null {
  const text = (agent ?? '').slice(0, 512)
  const parts = [named(BROWSERS, text), named(SYSTEMS, text)].filter((part) => part !== undefined)
  return parts.length === 0 ? null : parts.join(' on ')
}
