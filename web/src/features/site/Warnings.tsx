import { Info } from 'lucide-react'
import type { SiteReport } from '../../api/analytics.ts'
import classes from './site.module.css'

/** What makes the report less precise than it looks, and why the window before cannot be shown. */
export function Warnings({ report }: { report: SiteReport }) {
  const messages = [
    ...report.warnings.map(({ message }) => message),
    ...(report.compareFault === undefined ? [] : [`The period before cannot be shown: it ${report.compareFault}`]),
  ]
  if (messages.length === 0) return null
  return (
    <ul className={classes.warnings} aria-label="About these numbers">
      {messages.map((message) => (
        <li key={message}>
          <Info size={16} aria-hidden />
          {message}
        </li>
      ))}
    </ul>
  )
}
