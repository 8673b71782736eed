import type { ReactNode } from 'react'
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

/** The page without a rail: a heading, what there is to know, and nothing to press. */
export function Sheet({ title, about, children }: { title: string; about?: string; children: ReactNode }) {
  return (
    <div className={classes.page}>
      <main className={classes.sheet}>
        <header className={classes.title}>
          <h1>{title}</h1>
          {about !== undefined && <p className={classes.text}>{about}</p>}
        </header>
        {children}
      </main>
      <footer className={classes.foot}>Watched by Tagwarden</footer>
    </div>
  )
}
