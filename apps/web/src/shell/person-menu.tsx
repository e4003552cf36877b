import { BookOpen, LogOut, Monitor, Moon, Sun } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { signOut } from '../api/sign-out.ts';
import { currentTheme, setTheme, type Theme } from '../look/theme.ts';
import { t } from '../messages/messages.ts';
import { Menu } from '../parts/menu.tsx';

const themes = [
  { theme: 'system', name: 'theme.system', icon: Monitor },
  { theme: 'light', name: 'theme.light', icon: Sun },
  { theme: 'dark', name: 'theme.dark', icon: Moon },
] as const;

/** What concerns the person at the screen: how the pages look, the account pages, the documents of the API. */
export function PersonMenu({ className, children }: { readonly className: string; readonly children: ReactNode }) {
  const [chosen, setChosen] = useState(currentTheme);
  const choose = (theme: Theme) => {
    setTheme(theme);
    setChosen(theme);
  };
  return (
    <Menu
      above
      name={t('shell.you')}
      className={className}
      button={children}
      entries={[
        ...themes.map(({ theme, name, icon }) => ({
          name: t(name),
          icon,
          isCurrent: chosen === theme,
          onChoose: () => choose(theme),
        })),
        { name: t('shell.api'), icon: BookOpen, href: '/api-docs' },
        { name: t('shell.sign_out'), icon: LogOut, onChoose: signOut },
      ]}
    />
  );
}
