import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient } from './api/api.ts';
import { applyTheme } from './app/theme.ts';
import { createAppRouter, loadAllPages } from './router.tsx';
import './styles/tokens.css';
import './styles/base.css';

applyTheme();

const client = createQueryClient();
const router = createAppRouter(client);
const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no #root');

/** Milliseconds after which the first page is drawn even on a slow connection. */
const LOAD_ALL_MS = 3_000;
setTimeout(loadAllPages, LOAD_ALL_MS);

createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
