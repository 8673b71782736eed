import type { CSSProperties, ReactNode } from 'react'
import { useTab } from '../../ui/status/status.ts'
import classes from './status.module.css'

/** What a link shows that was revoked, or never was. */
export function Gone() {
  useTab('Status', 'unknown')
  return (
    <Sheet title="This link opens nothing">
      <p className={classes.text}>
        It may be incomplete, or it was revoked. Ask the person who sent it to you for a new one.
      </p>
    </Sheet>
  )
}

interface SheetProps {
  title: string
  about?: string
  /** The client's, `#rrggbb`. */
  accent?: string | null
  /** Address of its logo. */
  logo?: string | null
  children: ReactNode
}

/** The page without a rail: a heading, what there is to know, and nothing to press. */
export function Sheet({ title, about, accent = null, logo = null, children }: SheetProps) {
  return (
    <div
      className={classes.page}
      data-branded={accent !== null || undefined}
      style={accent === null ? undefined : ({ '--brand': accent } as CSSProperties)}
    >
      <main className={classes.sheet}>
        <header className={classes.title}>
          {logo !== null && <img className={classes.logo} src={logo} alt="" />}
          <h1>{title}</h1>
          {about !== undefined && <p className={classes.text}>{about}</p>}
        </header>
        {children}
      </main>
      <footer className={classes.foot}>Watched by Tagwarden</footer>
    </div>
  )
}
