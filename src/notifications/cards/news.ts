import { quoted } from '../../lib/index.ts'
import { ALSO_ON, type AlertMessage } from '../message.ts'
import { cut, defanged, LINE_MAX, oneLine, sentence } from './card.ts'

/** Returns what is new in a later message, to be followed by the title; null when its badge says so. */
export function newsOf(message: AlertMessage): string | null {
  const news = wordsOf(message)
  return news === null ? null : cut(defanged(oneLine(sentence(news))), LINE_MAX)
}

function wordsOf({ kind, alert, incident, facts }: AlertMessage): string | null {
  if (kind === 'widened') {
    const more = facts.find(({ name }) => name === ALSO_ON)
    return more === undefined ? null : `${ALSO_ON} ${more.value}`
  }
  if (kind !== 'explained' && kind !== 'reminder') return null
  // The title that follows may itself be the cause that was found.
  return incident?.note?.replace(quoted(alert.title), '').trim() ?? null
}
