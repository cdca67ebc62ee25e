from dg2 import *
import sys
P={"4":[1,1,1,1,1,0],"3":[1,1,1,1,0,0],"5":[1]*6,"h":[1,1,1,1,.5,0],"g":[1,1,1,1,.7,.2]}
W=gll(5).weights; MASS=np.outer(W,W)/4
XN=(np.arange(L)[:,None]+(gll(5).points+1)/2)
def gram(R,s,q,d,src,over=5,qt=None):
    pw=[(i,j) for i in range(q+1) for j in range(q+1-i)]
    pw=sorted(pw,key=sum); 
    B=np.array([filt(project(lambda x,y: np.clip(1-((x-src[0])**2+(y-src[1])**2)/R**2,0,None)**s*((x-src[0])/R)**i*((y-src[1])/R)**j,5,over=over),P[d]) for i,j in pw])
    X=XN[None,:,None,:]-src[0]; Y=XN[:,None,:,None]-src[1]
    T=np.array([np.broadcast_to((X/R)**i*(Y/R)**j,B.shape[1:])*MASS for i,j in pw])
    G=np.einsum("ayxji,byxji->ab",T,B); c=np.linalg.lstsq(G,np.eye(len(pw))[0],rcond=1e-10)[0]
    return np.tensordot(c,B,1)
kw=dict(force=(.8,.5)) if sys.argv[1]=="f" else {}
for cfg in sys.argv[2:]:
    R,s,q,d=cfg.split(":"); R,s,q=float(R),float(s),int(q)
    tot=[]
    for p in ("odd","corner","face","middle"):
        e,*_=errors(lambda src: gram(R,s,q,d,src),p,radii=(1.,1.25,1.5,2.),**kw)
        tot.append(np.sqrt((e**2).mean(1)))
    tot=100*np.array(tot)
    print(cfg.ljust(12),"worst pos rms",np.round(tot.max(0),2),"corner",np.round(tot[1],2),"odd",np.round(tot[0],2),flush=True)
