import type { ComponentType, ReactNode } from 'react'
import { TextLink } from '../../ui/LinkButton.tsx'
import classes from './Banner.module.css'

interface BannerProps {
  /** Of the element; one on the page. */
  id: string
  tone: 'warning' | 'critical'
  icon: ComponentType<{ size: number; 'aria-hidden': boolean }>
  words: string
  /** Links to clients. */
  named: readonly { id: string; link: ReactNode }[]
  more: number
}

/** What is true of some clients, above all else of the overview. */
export function Banner({ id, tone, icon: Icon, words, named, more }: BannerProps) {
  return (
    <section className={classes.banner} data-tone={tone} aria-labelledby={id}>
      <Icon size={16} aria-hidden />
      <div className={classes.words}>
        <h2 id={id}>{words}</h2>
        <ul>
          {named.map(({ id, link }) => (
            <li key={id}>{link}</li>
          ))}
          {more > 0 && (
            <li>
              <TextLink to="/clients">and {more} more</TextLink>
            </li>
          )}
        </ul>
      </div>
    </section>
  )
}
